"""Kafka's own `kafka-dump-log` reads the broker's files, down to each record, without complaint."""

import re
import signal
import subprocess

from .. import records
from ..failure import expect, require
from ..paths import JVM
from ..records import Record
from .roundtrip import CODECS

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
    client.ask("consume", topic=topics["none"], file=cell.file("got"), group=cell.topic("group"), count=PART)
    for codec, topic in topics.items():
        with cell.check(f"{codec} while the broker runs"):
            _expect_records(broker, topic, [".log"])
    with cell.check("clean stop"):
        expect(broker.stop(), 0 if cell.on_klamm else JVM_STOPPED, "exit status of the broker")
    for codec, topic in topics.items():
        with cell.check(f"{codec} after a clean stop, with indexes"):
            _expect_records(broker, topic, [".log", ".index", ".timeindex"])
    with cell.check("commits of a group, with Kafka's decoder"):
        dumped = _dump(broker, f"{OFFSETS_TOPIC}-*", [".log"], ["--offsets-decoder"])
        require(re.search(rf'"group":"{cell.topic("group")}".*"offset":{PART}\b', dumped), "the commit is not there")


def _expect_records(broker, topic, kinds):
    dumped = _dump(broker, f"{topic}-0", kinds, ["--deep-iteration"])
    expect(len(re.findall(r"^\| offset: ", dumped, re.MULTILINE)), COUNT, "records")


def _dump(broker, folder, kinds, options):
    """What kafka-dump-log says, which must be no complaint."""
    files = [str(path) for kind in kinds for path in sorted(broker.data.rglob(f"{folder}/*{kind}"))]
    require(files, f"no files of {folder} under {broker.data}")
    done = subprocess.run([*JVM, "kafka.tools.DumpLogSegments", *options, "--files", ",".join(files)],
                          capture_output=True, text=True, timeout=120)
    complaint = COMPLAINTS.search(done.stdout + done.stderr)
    require(not complaint, f"{complaint and complaint.string[max(0, complaint.start() - 200):complaint.end() + 300]}")
    expect(done.returncode, 0, "exit status of kafka-dump-log")
    return done.stdout
