"""Keys, nulls, empty values, headers and timestamps arrive as they were sent: what the client writes, in its own reading and in the
Java client's, and what the Java client writes."""

from .. import records
from ..client import NAMES
from ..failure import expect_values
from ..records import Record
from .timestamp import KEPT

CLIENTS = NAMES
PLAIN_KAFKA = True
START_MS = 1_700_000_000_000
# kafkajs takes headers as an object: a name once.
RECORDS = [
    Record(b"key", b"value"),
    Record(None, b"no key"),
    Record(b"", b"empty key"),
    Record(b"tombstone", None),
    Record(b"empty value", b""),
    Record(b"\x00\xff\r\n\t", bytes(range(256))),
    Record(b"headers", b"v", (("trace", b"\x01\x02"), ("empty", b""))),
    Record("Schlüssel".encode(), "Größe 日本".encode(), (("naïve", "é".encode()),)),
]
# To whom what is empty is as what is null.
EMPTY_IS_NULL = ["kafka-go"]


def run(cell):
    wanted = [record._replace(partition=0, timestamp=START_MS + 1000 * index) for index, record in enumerate(RECORDS)]
    sent = records.write(cell.file("sent"), wanted)
    client = cell.client()
    for writer, readers in ((client, (client, cell.tool)), (cell.tool, (client,))):
        with cell.check(f"written by {writer.name}"):
            topic = cell.topic("own" if writer is client else "foreign")
            cell.tool.ask("create", topic=topic, partitions=1, configs=KEPT)
            writer.ask("produce", topic=topic, file=sent)
            for reader in readers:
                _expect_read(cell, reader, topic, wanted)


def _expect_read(cell, reader, topic, wanted):
    got = cell.file(f"{reader.name}.got")
    reader.ask("consume", topic=topic, file=got, count=len(wanted))
    found = [record._replace(offset=None) for record in records.read(got)]
    if reader.name in EMPTY_IS_NULL:
        wanted = list(map(_with_nulls, wanted))
    expect_values(found, wanted, f"read by {reader.name}: record")


def _with_nulls(record):
    headers = tuple((name, value or None) for name, value in record.headers)
    return record._replace(key=record.key or None, value=record.value or None, headers=headers)
