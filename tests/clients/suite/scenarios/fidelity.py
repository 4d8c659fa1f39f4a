"""Keys, nulls, empty and large values, headers and timestamps arrive as they were sent, in each client's own reading and in the
Java client's."""

from .. import records
from ..failure import expect_values
from ..records import Record

CLIENTS = ["confluent-kafka", "kafka-python", "kafkajs", "java"]
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
    Record(b"large", b"0123456789abcdef" * 65_536),
]


def run(cell):
    topic = cell.topic()
    wanted = [record._replace(partition=0, timestamp=START_MS + 1000 * index) for index, record in enumerate(RECORDS)]
    cell.tool.ask("create", topic=topic, partitions=1, configs={"max.message.bytes": "2000000"})
    client = cell.client()
    with cell.check("produce"):
        client.ask("produce", topic=topic, file=records.write(cell.file("sent"), wanted))
    for reader, name in ((client, "itself"), (cell.tool, "java")):
        with cell.check(f"read by {name}"):
            reader.ask("consume", topic=topic, file=cell.file(name), count=len(wanted))
            found = [record._replace(offset=None) for record in records.read(cell.file(name))]
            expect_values(found, wanted, "record")
