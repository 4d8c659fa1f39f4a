"""Batches of which a transform dropped some, all, the first or the last record read right with every client, and idempotent
producers go on, also after a restart of the broker (issue 2, check 9)."""

from .. import records
from ..cell import TOOL
from ..client import NAMES
from ..failure import expect_values
from ..plugin_files import test_guest
from ..records import Record

CLIENTS = NAMES
CANNOT = {"kafka-go": "shows control batches as messages, and has no idempotent producer"}
PLAIN_KAFKA = False
# Leaves out the records whose value begins with `drop `.
PLUGIN = "drop-records"
# One batch each; `x` is dropped. A topic that ends in dropped records comes last.
BATCHES = ["......", "x.x.x.", "xxxxxx", "x.....", "xxx...", "......", ".....x", "..xxxx", "xxxxxx", "x"]


def run(cell):
    broker = cell.own_broker(plugins={f"{PLUGIN}.wasm": test_guest(PLUGIN)})
    topic = cell.topic()
    cell.client(broker, name=TOOL).ask("create", topic=topic, partitions=1, configs={"klamm.transforms": PLUGIN})
    producer = cell.client(broker)
    # What one client wrote all read; what the others wrote, they and that one.
    names = [name for name in NAMES if name not in CANNOT] if cell.client_name == TOOL else [cell.client_name, TOOL]
    readers = {name: cell.client(broker, name=name) for name in names}
    kept = []
    for title in ("before a restart", "after it"):
        with cell.check(f"produced {title}"):
            kept += _produce(cell, producer, topic, len(kept))
        for name, reader in readers.items():
            with cell.check(f"read by {name} {title}"):
                _expect_read(cell, reader, topic, kept)
        broker.stop()
        broker.start()


def _produce(cell, producer, topic, start):
    """Returns the values that must stay."""
    kept = []
    for number, batch in enumerate(BATCHES):
        values = [b"%s %d.%d.%d" % (b"drop" if mark == "x" else b"keep", start, number, index)
                  for index, mark in enumerate(batch)]
        sent = [Record(b"key", value, partition=None if producer.name == "kcat" else 0) for value in values]
        producer.ask("produce", topic=topic, file=records.write(cell.file("sent"), sent), idempotent=True)
        kept += [value for value in values if value.startswith(b"keep")]
    return kept


def _expect_read(cell, reader, topic, kept):
    got = cell.file(f"{reader.name}.got")
    reader.ask("consume", topic=topic, file=got, count=len(kept))
    expect_values([record.value for record in records.read(got)], kept, "value")
