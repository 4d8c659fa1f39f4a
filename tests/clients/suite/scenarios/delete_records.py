"""Records before an offset are deleted: reads begin there, also those of a group that stood before it; what lies beyond the end is
refused."""

from .. import records
from ..client import NAMES
from ..failure import expect, expect_values, refused
from ..records import Record

CLIENTS = NAMES
CANNOT = {"kcat": "has no admin", "kafka-go": "has no DeleteRecords"}
PLAIN_KAFKA = True
COUNT = 100
READ = 10
KEPT_FROM = 40


def run(cell):
    topic, group = cell.topic(), cell.topic("group")
    cell.tool.ask("create", topic=topic, partitions=2)
    sent = [Record(value=b"%d" % number, partition=partition) for number in range(COUNT) for partition in range(2)]
    cell.tool.ask("produce", topic=topic, file=records.write(cell.file("sent"), sent))
    client = cell.client()
    with cell.check("delete"):
        client.ask("delete_records", topic=topic, offsets={"0": KEPT_FROM})
        _expect_earliest(cell, client, topic, KEPT_FROM, 0)
    with cell.check("read what is left"):
        client.ask("consume", topic=topic, file=cell.file("got"), count=2 * COUNT - KEPT_FROM)
        found = sorted((record.partition, record.offset) for record in records.read(cell.file("got")))
        expect_values(found, [*((0, at) for at in range(KEPT_FROM, COUNT)), *((1, at) for at in range(COUNT))], "partition and offset")
    with cell.check("beyond the end"):
        refused(client, "range", "delete_records", topic=topic, offsets={"0": COUNT + 1})
        _expect_earliest(cell, client, topic, KEPT_FROM, 0)
    with cell.check("a group that stood before"):
        _group_goes_on(cell, client, topic, group)
    with cell.check("all of them"):
        client.ask("delete_records", topic=topic, offsets={"0": -1, "1": COUNT})
        _expect_earliest(cell, client, topic, COUNT, COUNT)
        expect(client.ask("offsets", topic=topic, time=-1), {"0": COUNT, "1": COUNT}, "latest")


def _group_goes_on(cell, client, topic, group):
    """It has committed offset 10 of partition 1, whose first 40 are then deleted, and has read partition 0 to its end."""
    cell.tool.ask("commit", topic=topic, group=group, offsets={"0": COUNT, "1": READ})
    client.ask("delete_records", topic=topic, offsets={"1": KEPT_FROM})
    client.ask("consume", topic=topic, file=cell.file("got"), count=COUNT - KEPT_FROM, group=group)
    found = [(record.partition, record.offset) for record in records.read(cell.file("got"))]
    expect_values(found, [(1, at) for at in range(KEPT_FROM, COUNT)], "partition and offset")


def _expect_earliest(cell, client, topic, *offsets):
    wanted = {str(partition): offset for partition, offset in enumerate(offsets)}
    for asked in (client, cell.tool):
        expect(asked.ask("offsets", topic=topic, time=-2), wanted, f"earliest by {asked.name}")
