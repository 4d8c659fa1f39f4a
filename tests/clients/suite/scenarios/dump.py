"""Kafka's own `kafka-dump-log` reads the broker's files, down to each record, without complaint."""

import re
import signal
import subprocess

from .. import records
from ..failure import expect, require
from ..paths import JVM
from ..records import Record
from .codecs import CODECS

CLIENTS = ["confluent-kafka", "java"]
PLAIN_KAFKA = True
# In parts, so that there are many batches: the index has entries between batches only.
PARTS, PART = 10, 300
COUNT = PARTS * PART
JVM_STOPPED = 128 + signal.SIGTERM
OFFSETS_TOPIC = "__consumer_offsets"
COMPLAINTS = re.compile(r"Found|Mismatch|invalid|corrupt|Exception|out of order", re.IGNORECASE)


def run(cell):
    # Small segments and a dense index, so that there is more than one of each file.
    broker = cell.own_broker({"log.segment.bytes": str(1 << 20), "log.index.interval.bytes": "4096"})
    tool = cell.client(broker, name="java")
    client = cell.client(broker)
    sent = records.write(cell.file("sent"), [Record(b"key %d" % (i % 50), b"value %d " % i * 80) for i in range(PART)])
    topics = {codec: cell.topic(codec) for codec in CODECS}
    for codec, topic in topics.items():
        tool.ask("create", topic=topic, partitions=1)
        for _ in range(PARTS):
            client.ask("produce", topic=topic, file=sent, codec=codec, idempotent=True)
    routed = _routed(cell, tool, client)
    client.ask("consume", topic=topics["none"], file=cell.file("got"), group=cell.topic("group"), count=PART)
    for codec, topic in topics.items():
        with cell.check(f"{codec} while the broker runs"):
            _expect_records(broker, topic, [".log"])
    with cell.check("clean stop"):
        expect(broker.stop(), 0 if cell.on_klamm else JVM_STOPPED, "exit status of the broker")
    for codec, topic in topics.items():
        with cell.check(f"{codec} after a clean stop, with indexes"):
            _expect_records(broker, topic, [".log", ".index", ".timeindex"])
    with cell.check("producers after a clean stop"):
        for topic in [*topics.values(), *routed]:
            dumped = _dump(broker, f"{topic}-*", [".snapshot"], [])
            require(re.search(r"^producerId: \d+ .*lastSequence: \d", dumped, re.MULTILINE), f"no producer of {topic}")
    for topic in routed:
        with cell.check("routes and their parts"):
            _expect_routed(broker, topic)
    with cell.check("commits of a group, with Kafka's decoder"):
        dumped = _dump(broker, f"{OFFSETS_TOPIC}-*", [".log"], ["--offsets-decoder"])
        require(re.search(rf'"group":"{cell.topic("group")}".*"offset":{PART}\b', dumped), "the commit is not there")


def _routed(cell, tool, client):
    """A topic whose records are all sent to partition 0, and stored where the partitioner says."""
    if not cell.on_klamm:
        return []
    topic = cell.topic("routed")
    tool.ask("create", topic=topic, partitions=3, configs={"klamm.partitioner": "key-ordering"})
    sent = [Record(b"key %d" % (i % 50), b"%d" % i, partition=0) for i in range(PART)]
    client.ask("produce", topic=topic, file=records.write(cell.file("routed"), sent), idempotent=True)
    return [topic]


def _expect_routed(broker, topic):
    """Kafka's tool knows no route records, and takes them for what they are: control records of a type to come."""
    dumped = _dump(broker, f"{topic}-*", [".log", ".index", ".timeindex"], ["--deep-iteration"])
    found = [line for line in dumped.splitlines() if line.startswith("| offset: ")]
    routes = [line for line in found if "controlType: UNKNOWN" in line]
    require(routes, "no batch was taken apart")
    expect(len(found) - len(routes), PART, "records")


def _expect_records(broker, topic, kinds):
    dumped = _dump(broker, f"{topic}-0", kinds, ["--deep-iteration"])
    expect(len(re.findall(r"^\| offset: ", dumped, re.MULTILINE)), COUNT, "records")


def _dump(broker, folder, kinds, options):
    """What kafka-dump-log says, which must be no complaint."""
    files = [str(path) for kind in kinds for path in sorted(broker.data.rglob(f"{folder}/*{kind}"))]
    require(files, f"no files of {folder} under {broker.data}")
    done = subprocess.run([*JVM, "kafka.tools.DumpLogSegments", *options, "--files", ",".join(files)],
                          capture_output=True, text=True, timeout=300)
    complaint = COMPLAINTS.search(done.stdout + done.stderr)
    require(not complaint, f"{complaint and complaint.string[max(0, complaint.start() - 200):complaint.end() + 300]}")
    expect(done.returncode, 0, "exit status of kafka-dump-log")
    return done.stdout
