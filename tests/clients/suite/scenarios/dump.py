"""Kafka's own `kafka-dump-log` reads the broker's files, down to each record, without complaint."""

import re
import subprocess

from .. import records
from ..failure import expect, require
from ..paths import JVM
from ..records import Record
from .roundtrip import CODECS

CLIENTS = ["confluent-kafka", "java"]
PLAIN_KAFKA = True
COUNT = 2000
COMPLAINTS = re.compile(r"Found|Mismatch|invalid|corrupt|Exception|out of order", re.IGNORECASE)


def run(cell):
    # Small segments and a dense index, so that there is more than one of each file.
    broker = cell.own_broker({"log.segment.bytes": str(1 << 20), "log.index.interval.bytes": "4096"})
    tool = cell.client(broker, name="java")
    client = cell.client(broker)
    sent = records.write(cell.file("sent"), [Record(b"key %d" % (i % 50), b"value %d " % i * 40) for i in range(COUNT)])
    topics = {codec: cell.topic(codec) for codec in CODECS}
    for codec, topic in topics.items():
        tool.ask("create", topic=topic, partitions=1)
        client.ask("produce", topic=topic, file=sent, codec=codec, idempotent=True)
    for codec, topic in topics.items():
        with cell.check(f"{codec} while the broker runs"):
            _expect_readable(broker, topic, [".log"])
    with cell.check("clean stop"):
        require(broker.stop() in (0, 143), "the broker did not stop cleanly")
    for codec, topic in topics.items():
        with cell.check(f"{codec} after a clean stop, with indexes"):
            _expect_readable(broker, topic, [".log", ".index", ".timeindex"])


def _expect_readable(broker, topic, kinds):
    files = [str(path) for kind in kinds for path in sorted(broker.data.rglob(f"{topic}-0/*{kind}"))]
    require(files, f"no files of {topic} under {broker.data}")
    done = subprocess.run([*JVM, "kafka.tools.DumpLogSegments", "--deep-iteration", "--files", ",".join(files)],
                          capture_output=True, text=True, timeout=120)
    complaint = COMPLAINTS.search(done.stdout + done.stderr)
    require(not complaint, f"{complaint and complaint.string[max(0, complaint.start() - 200):complaint.end() + 300]}")
    expect(done.returncode, 0, "exit status of kafka-dump-log")
    expect(len(re.findall(r"^\| offset: ", done.stdout, re.MULTILINE)), COUNT, "records")
