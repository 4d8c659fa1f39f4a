"""Each log file goes into a topic of its own and comes back byte for byte and in order, with each codec (issue 2, check 2)."""

from .. import records
from ..failure import expect_values

CLIENTS = ["kcat", "confluent-kafka", "kafka-python", "kafkajs", "java"]
PLAIN_KAFKA = True
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def run(cell):
    client = cell.client()
    for name, data in records.log_files().items():
        lines = records.lines(data)
        sent = records.write(cell.file(f"{name}.sent"), (records.Record(value=line) for line in lines))
        for codec in CODECS:
            with cell.check(f"{name} {codec}"):
                _there_and_back(cell, client, lines, sent, name, codec)


def _there_and_back(cell, client, lines, sent, name, codec):
    topic = cell.topic(name, codec)
    cell.tool.ask("create", topic=topic, partitions=1)
    client.ask("produce", topic=topic, file=sent, codec=codec)
    got = cell.file(f"{name}.{codec}.got")
    client.ask("consume", topic=topic, file=got, count=len(lines))
    found = records.read(got)
    expect_values([record.value for record in found], lines, "value")
    expect_values([record.offset for record in found], range(len(lines)), "offset")
