"""A consumer goes back, and forward, to an offset while it reads; a partition that is paused brings nothing until it is resumed."""

from .. import records
from ..client import NAMES
from ..failure import expect_values
from ..records import Record

CLIENTS = NAMES
CANNOT = {"kcat": "has one position, from its start to its end"}
PLAIN_KAFKA = True
COUNT = 50
FIRST = 20
SEEKS = {"back": 5, "forward": 40}


def run(cell):
    topic = cell.topic()
    cell.tool.ask("create", topic=topic, partitions=2)
    sent = [Record(value=_value(partition, number), partition=partition) for number in range(COUNT) for partition in range(2)]
    cell.tool.ask("produce", topic=topic, file=records.write(cell.file("sent"), sent))
    client = cell.client()
    for name, to in SEEKS.items():
        with cell.check(f"seek {name}"):
            client.ask("seek", topic=topic, file=cell.file("got"), first=FIRST, to=to, count=COUNT - to)
            _expect(cell, [_value(0, number) for number in [*range(FIRST), *range(to, COUNT)]])
    with cell.check("pause and resume"):
        client.ask("pause", topic=topic, file=cell.file("got"), count=COUNT)
        _expect(cell, [_value(partition, number) for partition in range(2) for number in range(COUNT)])


def _value(partition, number):
    return b"%d.%d" % (partition, number)


def _expect(cell, wanted):
    expect_values([record.value for record in records.read(cell.file("got"))], wanted, "value")
