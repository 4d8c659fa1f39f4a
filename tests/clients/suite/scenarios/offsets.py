"""A group goes on where it committed; reads begin at an offset or at a time; earliest, latest and times are told right."""

from .. import records
from ..failure import expect, expect_values
from ..records import Record

CLIENTS = ["kcat", "confluent-kafka", "kafka-python", "kafkajs", "java"]
PLAIN_KAFKA = True
START_MS = 1_700_000_000_000
COUNT = 100
# kcat stamps its own times, so it reads what Java wrote.
WRITER = "java"


def run(cell):
    topic, group = cell.topic(), cell.topic("group")
    cell.tool.ask("create", topic=topic, partitions=1)
    wanted = [Record(value=b"%d" % index, partition=0, timestamp=START_MS + 10 * index) for index in range(COUNT)]
    cell.tool.ask("produce", topic=topic, file=records.write(cell.file("sent"), wanted))
    client = cell.client()
    _commit_and_resume(cell, client, topic, group)
    with cell.check("seek"):
        _expect_read(cell, client, topic, range(60, COUNT), offsets={"0": 60})
    with cell.check("from a time"):
        # Between two records: the later one is the first.
        _expect_read(cell, client, topic, range(43, COUNT), time=START_MS + 425)
    _told(cell, client, topic)


def _commit_and_resume(cell, client, topic, group):
    for name, numbers in (("first of a group", range(0, 30)), ("resumed", range(30, 70))):
        with cell.check(name):
            _expect_read(cell, client, topic, numbers, group=group)
            expect(cell.tool.ask("committed", topic=topic, group=group), {"0": numbers.stop}, "committed offset")
    with cell.check("committed offset"):
        expect(client.ask("committed", topic=topic, group=group), {"0": 70}, "as the client tells it")


def _expect_read(cell, client, topic, numbers, **how):
    got = cell.file("got")
    client.ask("consume", topic=topic, file=got, count=len(numbers), **how)
    expect_values([record.value for record in records.read(got)], [b"%d" % number for number in numbers], "value")


def _told(cell, client, topic):
    for name, time, offset in (("earliest", -2, 0), ("latest", -1, COUNT), ("time", START_MS + 425, 43)):
        with cell.check(f"offset of {name}"):
            expect(client.ask("offsets", topic=topic, time=time), {"0": offset}, name)
