"""A group goes on where it committed, whichever process reads; what is committed is told right."""

from .. import records
from ..client import NAMES
from ..failure import expect, expect_values
from ..records import Record

CLIENTS = NAMES
PLAIN_KAFKA = True
COUNT = 100
TURNS = {"first of a group": range(0, 30), "resumed": range(30, 70), "resumed by another process": range(70, COUNT)}


def run(cell):
    topic, group = cell.topic(), cell.topic("group")
    cell.tool.ask("create", topic=topic, partitions=1)
    wanted = [Record(value=b"%d" % index, partition=0) for index in range(COUNT)]
    cell.tool.ask("produce", topic=topic, file=records.write(cell.file("sent"), wanted))
    one, other = cell.client(), cell.client()
    for (name, numbers), client in zip(TURNS.items(), (one, one, other)):
        with cell.check(name):
            client.ask("consume", topic=topic, file=cell.file("got"), count=len(numbers), group=group)
            found = [record.value for record in records.read(cell.file("got"))]
            expect_values(found, [b"%d" % number for number in numbers], "value")
            expect(cell.tool.ask("committed", topic=topic, group=group), {"0": numbers.stop}, "committed offset")
    with cell.check("committed offset"):
        expect(one.ask("committed", topic=topic, group=group), {"0": COUNT}, "as the client tells it")
