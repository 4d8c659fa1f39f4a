"""Consumers without a group read the partitions that they name, from where they say; earliest and latest are told right."""

from .. import records
from ..client import NAMES
from ..failure import expect, expect_values
from ..records import Record

CLIENTS = NAMES
CANNOT = dict.fromkeys(("kafkajs", "platformatic"), "reads as a member of a group only")
PLAIN_KAFKA = True
PARTITIONS = 3
EACH = 30


def run(cell):
    topic = cell.topic()
    cell.tool.ask("create", topic=topic, partitions=PARTITIONS)
    sent = [Record(value=_value(partition, number), partition=partition) for number in range(EACH) for partition in range(PARTITIONS)]
    cell.tool.ask("produce", topic=topic, file=records.write(cell.file("sent"), sent))
    client = cell.client()
    for name, starts in (("every partition", {0: 0, 1: 0, 2: 0}), ("one partition", {1: 0}), ("from an offset", {0: 7, 2: 12})):
        with cell.check(name):
            _expect_read(cell, client, topic, starts)
    for name, time, offset in (("earliest", -2, 0), ("latest", -1, EACH)):
        with cell.check(f"offset of {name}"):
            wanted = {str(partition): offset for partition in range(PARTITIONS)}
            expect(client.ask("offsets", topic=topic, time=time), wanted, name)


def _value(partition, number):
    return b"%d.%d" % (partition, number)


def _expect_read(cell, client, topic, starts):
    offsets = {str(partition): start for partition, start in starts.items()}
    count = sum(EACH - start for start in starts.values())
    client.ask("consume", topic=topic, file=cell.file("got"), offsets=offsets, count=count)
    found = sorted((record.partition, record.offset, record.value) for record in records.read(cell.file("got")))
    wanted = [(partition, number, _value(partition, number)) for partition, start in starts.items() for number in range(start, EACH)]
    expect_values(found, wanted, "partition, offset and value")
