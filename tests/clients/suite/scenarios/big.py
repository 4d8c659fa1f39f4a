"""A record of 1 MiB, between small ones, goes there and back; one that is larger than the topic takes is refused, and the producer
goes on."""

from .. import records
from ..client import NAMES
from ..failure import Failure, expect_values, require
from ..records import Record

CLIENTS = NAMES
PLAIN_KAFKA = True
MIB = b"0123456789abcdef" * 65_536
BIG = [Record(b"before", b"small"), Record(b"big", MIB), Record(b"after", b"small")]
TOO_LARGE = [Record(b"too large", MIB + MIB + MIB)]


def run(cell):
    topic = cell.topic()
    cell.tool.ask("create", topic=topic, partitions=1, configs={"max.message.bytes": "2000000"})
    client = cell.client()
    with cell.check("1 MiB"):
        client.ask("produce", topic=topic, file=records.write(cell.file("big"), BIG))
        _expect_read(cell, client, topic, BIG)
    with cell.check("too large"):
        _refused(client, topic, records.write(cell.file("too-large"), TOO_LARGE))
    with cell.check("goes on"):
        client.ask("produce", topic=topic, file=records.write(cell.file("after"), BIG[:1]))
        _expect_read(cell, client, topic, BIG + BIG[:1])


def _refused(client, topic, file):
    """Told as an error of the request, or as one of its records."""
    try:
        errors = client.ask("produce", topic=topic, file=file)["errors"]
    except Failure as failure:
        errors = [str(failure)]
    require(any("large" in error.lower() for error in errors), f"refused for another reason: {errors}")


def _expect_read(cell, client, topic, wanted):
    client.ask("consume", topic=topic, file=cell.file("got"), count=len(wanted))
    found = [Record(record.key, record.value) for record in records.read(cell.file("got"))]
    expect_values(found, wanted, "record")
