"""Reads begin at a time; the offset for a time is told right."""

from .. import records
from ..client import NAMES
from ..failure import expect, expect_values
from ..records import Record

CLIENTS = NAMES
PLAIN_KAFKA = True
START_MS = 1_700_000_000_000
STEP_MS = 10
COUNT = 100
# The broker is shared, and may come to look for what is older than a week.
KEPT = {"retention.ms": "-1"}
# Between two records: the later one is the first.
TIMES = {"between two records": (START_MS + 425, 43), "of a record": (START_MS + 600, 60), "before all": (START_MS - 1, 0)}


def run(cell):
    topic = cell.topic()
    cell.tool.ask("create", topic=topic, partitions=1, configs=KEPT)
    sent = [Record(value=b"%d" % index, partition=0, timestamp=START_MS + STEP_MS * index) for index in range(COUNT)]
    cell.tool.ask("produce", topic=topic, file=records.write(cell.file("sent"), sent))
    client = cell.client()
    for name, (time, first) in TIMES.items():
        with cell.check(f"read from a time {name}"):
            client.ask("consume", topic=topic, file=cell.file("got"), time=time, count=COUNT - first)
            found = [(record.value, record.timestamp) for record in records.read(cell.file("got"))]
            expect_values(found, [(record.value, record.timestamp) for record in sent[first:]], "value and time")
        with cell.check(f"offset for a time {name}"):
            expect(client.ask("offsets", topic=topic, time=time), {"0": first}, "offset")
