"""The same thousand keys from clients that hash differently land where the Java client's own partitioner would put them, by
the broker's `key-ordering` (issue 2, check 4). Against Kafka only the clients that hash like Java are asked: that shows the
measure to be right."""

from collections import Counter, defaultdict

from .. import records
from ..client import NAMES
from ..failure import Failure, Skip, expect, require
from ..records import Record

CLIENTS = NAMES
PLAIN_KAFKA = True
HASH_LIKE_JAVA = ["kafka-python", "aiokafka", "kafkajs", "java", "franz-go"]
PARTITIONS = 15
KEYS = [f"{'kunde-ü' if i % 3 else 'user:'}{i * 7919 % 100_003}{'x' * (i % 9)}".encode() for i in range(1000)]
WITHOUT_KEY = 1500
EVEN = range(80, 121)


def run(cell):
    if not cell.on_klamm and cell.client_name not in HASH_LIKE_JAVA:
        return cell.skip("whole", "hashes otherwise than Java: what klamm.partitioner is for")
    client = cell.client()
    with cell.check("each key where Java puts it"):
        sent = [Record(key, b"value %d" % repeat) for repeat in range(3) for key in KEYS]
        _expect_places(cell, _produce(cell, client, "keys", sent), KEYS)
    with cell.check("the empty key is a key"):
        _expect_places(cell, _produce(cell, client, "empty", [Record(b"", b"%d" % i) for i in range(100)]), [b""])
    with cell.check("records without a key spread evenly"):
        if not cell.on_klamm:
            raise Skip("a matter of klamm.partitioner")
        sent = [Record(None, b"%d" % i) for i in range(WITHOUT_KEY)]
        _expect_even(_produce(cell, client, "null", sent))


def _produce(cell, client, word, sent):
    """Returns what then stands in the topic."""
    topic = cell.topic(word)
    configs = {"klamm.partitioner": "key-ordering"} if cell.on_klamm else {}
    cell.tool.ask("create", topic=topic, partitions=PARTITIONS, configs=configs)
    client.ask("produce", topic=topic, file=records.write(cell.file("sent"), sent))
    cell.tool.ask("consume", topic=topic, file=cell.file("got"))
    found = records.read(cell.file("got"))
    expect(Counter((record.key, record.value) for record in found),
           Counter((record.key, record.value) for record in sent), "records in the topic")
    return found


def _expect_places(cell, found, keys):
    encoded = [records.encode(key) for key in keys]
    expected = dict(zip(keys, cell.tool.ask("expected_partitions", keys=encoded, partitions=PARTITIONS)))
    places = defaultdict(set)
    for record in found:
        places[record.key].add(record.partition)
    wrong = {key: places[key] for key in keys if places[key] != {expected[key]}}
    if wrong:
        key, at = next(iter(wrong.items()))
        raise Failure(f"{len(wrong)} of {len(keys)} keys are elsewhere, such as {key} in {at} instead of {expected[key]}")


def _expect_even(found):
    counts = Counter(record.partition for record in found)
    require(all(counts[partition] in EVEN for partition in range(PARTITIONS)), f"uneven: {sorted(counts.items())}")
