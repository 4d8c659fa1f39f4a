"""Each log file goes into a topic of its own and comes back byte for byte and in order, with each codec (issue 2, check 2)."""

from .. import records
from ..client import NAMES
from ..failure import expect_values

CLIENTS = NAMES
PLAIN_KAFKA = True
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


# The others take a few files with each codec: time is short, and what differs from file to file is not theirs.
ALL_FILES = ["kcat", "confluent-kafka", "kafka-python", "kafkajs", "java"]
FEW = 2


def run(cell):
    client = cell.client()
    files = list(records.log_files().items())
    for name, data in files if cell.client_name in ALL_FILES else files[:FEW]:
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
