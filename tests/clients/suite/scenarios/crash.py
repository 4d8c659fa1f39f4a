"""kill -9 while an idempotent producer sends without pause: after each restart every acknowledged record is there, in order, once,
the group goes on from its committed offsets, topics and configs are there (issue 2, check 8)."""

import random
import time
from collections import defaultdict

from .. import records
from ..failure import Failure, expect, expect_values
from ..records import Record

CLIENTS = ["confluent-kafka", "java"]
PLAIN_KAFKA = True
PARTITIONS = 3
KEYS = 20
CRASHES, CRASHES_LONG = 3, 20
RECORDS_A_ROUND = 3000
PACE_US = 400
READ_A_ROUND = 40
CONFIGS = {"retention.ms": "86400000", "max.message.bytes": "900000"}


def run(cell):
    rounds = CRASHES_LONG if cell.options.long else CRASHES
    broker = cell.own_broker()
    tool, producer = cell.client(broker, name="java"), cell.client(broker)
    written, read = cell.topic("written"), cell.topic("read")
    tool.ask("create", topic=written, partitions=PARTITIONS, configs=CONFIGS)
    tool.ask("create", topic=read, partitions=1)
    tool.ask("produce", topic=read, file=_numbered(cell, "read", range(rounds * READ_A_ROUND + READ_A_ROUND)))
    dice = random.Random(cell.options.seed)
    for number in range(rounds):
        with cell.check(f"crash {number + 1}"):
            _read_some(cell, producer, read, number)
            _crash_while_producing(cell, broker, producer, written, number, dice)
            expect(tool.ask("committed", topic=read, group=cell.topic("group")), {"0": READ_A_ROUND * (number + 1)},
                   "committed offset")
            _expect_topic(tool, written)
            _expect_stored(cell, tool, written, RECORDS_A_ROUND * (number + 1))
    with cell.check("the group goes on"):
        _read_some(cell, producer, read, rounds)


def _numbered(cell, name, numbers):
    return records.write(cell.file(name), [Record(b"key %d" % (i % KEYS), b"%d" % i) for i in numbers])


def _read_some(cell, client, topic, number):
    client.ask("consume", topic=topic, file=cell.file("got"), group=cell.topic("group"), count=READ_A_ROUND)
    wanted = range(READ_A_ROUND * number, READ_A_ROUND * (number + 1))
    expect_values([record.value for record in records.read(cell.file("got"))], [b"%d" % i for i in wanted], "read by the group")


def _crash_while_producing(cell, broker, producer, topic, number, dice):
    file = _numbered(cell, "sent", range(RECORDS_A_ROUND * number, RECORDS_A_ROUND * (number + 1)))
    producer.begin("produce", topic=topic, file=file, idempotent=True, producer="one", pace_us=PACE_US)
    time.sleep(RECORDS_A_ROUND * PACE_US / 1e6 * dice.uniform(0.2, 0.8))
    broker.kill()
    broker.start()
    expect(producer.finish(180)["errors"], [], "errors of the producer")


def _expect_topic(tool, topic):
    found = tool.ask("describe", topic=topic)
    expect(found["partitions"], PARTITIONS, "partitions")
    expect({name: found["configs"][name] for name in CONFIGS}, CONFIGS, "configs")


def _expect_stored(cell, tool, topic, count):
    """All were acknowledged in the end, so all must be there."""
    tool.ask("consume", topic=topic, file=cell.file("stored"))
    stored = records.read(cell.file("stored"))
    expect_values(sorted(int(record.value) for record in stored), range(count), "stored, sorted")
    last = defaultdict(lambda: -1)
    for record in sorted(stored, key=lambda record: (record.partition, record.offset)):
        if int(record.value) <= last[record.partition, record.key]:
            raise Failure(f"{record.key}: {record.value} after {last[record.partition, record.key]}")
        last[record.partition, record.key] = int(record.value)
