"""Idempotent producers through a proxy that swallows answers and cuts connections, while the partitioner is reloaded and the
topic grows: every record once, every key in order (issue 2, check 4).

Growth moves keys. Order is kept by producer, receiving partition and key, and across a growth a client itself changes the
partition to which it sends a key. So order is checked for each key, partition and receiving partition, the latter being what the
producer was told.
"""

import time
from collections import Counter, defaultdict

from .. import records
from ..failure import Failure, expect, require
from ..plugin_files import reload
from ..records import Record

CLIENTS = ["confluent-kafka", "java"]
PLAIN_KAFKA = True
PARTITIONS = 15
GROWN = 22
KEYS = 60
PHASES = ["before", "during", "after"]
PACE_US = 600
REQUEST_SECONDS = 240
# Longer than the clients' own refresh of metadata, after which they know all partitions.
REFRESH_SECONDS = 2


def run(cell):
    count = 20_000 if cell.options.long else 5_000
    broker, proxy = cell.proxied_broker(cell.options.seed)
    tool = cell.client(name="java", bootstrap=proxy.address)
    topic = cell.topic()
    configs = {"klamm.partitioner": "key-ordering"} if cell.on_klamm else {}
    tool.ask("create", topic=topic, partitions=PARTITIONS, configs=configs)
    producer = cell.client(bootstrap=proxy.address)
    sent = {}
    for phase in PHASES:
        with cell.check(f"produce {phase} the growth"):
            sent[phase] = _phase(cell, broker, proxy, tool, producer, topic, phase, count)
    with cell.check("incidents of every kind"):
        require(all(proxy.incidents.values()), f"seed {cell.options.seed} gave {proxy.incidents}")
    tool.ask("consume", topic=topic, file=cell.file("got"))
    stored = records.read(cell.file("got"))
    with cell.check("every record once"):
        _expect_once(stored, sent)
    with cell.check("every key in order"):
        _expect_order(stored, sent)
    if cell.on_klamm:
        with cell.check("every key where the partitioner put it"):
            _expect_places(stored, tool)


def _phase(cell, broker, proxy, tool, producer, topic, phase, count):
    """Sends the records of a phase with all that happens meanwhile. Returns the receiving partition of each value."""
    wanted = [Record(b"key %d" % (i % KEYS), b"%s %d" % (phase.encode(), i)) for i in range(count)]
    proxy.hostile = True
    producer.begin("produce", topic=topic, file=records.write(cell.file(phase), wanted), idempotent=True, producer="one",
                   pace_us=PACE_US)
    _disturb(cell, broker, tool, topic, phase, count)
    answer = producer.finish(REQUEST_SECONDS)
    proxy.hostile = False
    expect(answer["errors"], [], "errors of the producer")
    if phase == "during":
        time.sleep(REFRESH_SECONDS)
    return {record.value: place[0] for record, place in zip(wanted, answer["acked"])}


def _disturb(cell, broker, tool, topic, phase, count):
    step = count * PACE_US / 1e6 / 4
    for number in range(3):
        time.sleep(step)
        if cell.on_klamm:
            reload(broker, "key-ordering", f"{phase} {number}")
        if phase == "during" and number == 1:
            tool.ask("grow", topic=topic, partitions=GROWN)


def _expect_once(stored, sent):
    wanted = {value for values in sent.values() for value in values}
    found = Counter(record.value for record in stored)
    twice = [value for value, times in found.items() if times > 1]
    require(not twice, f"{len(twice)} records are stored more than once, such as {twice[:3]}")
    lost = sorted(wanted - found.keys())
    require(not lost, f"{len(lost)} records are lost, such as {lost[:3]}")
    require(not found.keys() - wanted, "records that nobody sent")


def _expect_order(stored, sent):
    receiving = {value: partition for values in sent.values() for value, partition in values.items()}
    last = defaultdict(lambda: (-1, -1))
    for record in sorted(stored, key=lambda record: (record.partition, record.offset)):
        phase, number = record.value.decode().split()
        place = (record.partition, record.key, receiving[record.value])
        now = (PHASES.index(phase), int(number))
        if now <= last[place]:
            raise Failure(f"{record.key} in {record.partition}: {now} after {last[place]}")
        last[place] = now


def _expect_places(stored, tool):
    keys = sorted({record.key for record in stored})
    encoded = [records.encode(key) for key in keys]
    old, new = (dict(zip(keys, tool.ask("expected_partitions", keys=encoded, partitions=partitions)))
                for partitions in (PARTITIONS, GROWN))
    allowed = {"before": [old], "during": [old, new], "after": [new]}
    for record in stored:
        phase = record.value.decode().split()[0]
        right = {places[record.key] for places in allowed[phase]}
        require(record.partition in right, f"{record.key} {phase} the growth is in {record.partition}, not {right}")
