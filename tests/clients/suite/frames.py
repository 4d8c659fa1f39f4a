"""Writes down what each client really sends: `tests/clients/frames/CLIENT.hex` has the first small request of each API and version.

The test `real_clients_requests_pass_and_are_read_to_their_end` of `src/wire/guard` reads these files.
"""

import shutil
import struct
import tempfile
from pathlib import Path

from . import client, records
from .broker import Klamm
from .failure import Failure, Skip
from .paths import HERE
from .proxy import Proxy
from .records import Record

FOLDER = HERE / "frames"
BYTES_MAX = 1024
HEAD = "# The first request of each API and version that {} sends: key, version, frame without its length. Written by\n" \
       "# `tests/clients/run --write-frames`.\n"
TOPIC, GROUP = "frames", "frames-group"
RECORDS = [Record(key=b"key", value=b"value"), Record(value=b"value")]


def write():
    """All clients against one broker."""
    FOLDER.mkdir(exist_ok=True)
    for name in client.NAMES:
        folder = Path(tempfile.mkdtemp(prefix="klamm-frames-"))
        seen = {}
        _record(name, folder, seen)
        lines = [f"{key} {version} {frame.hex()}\n" for (key, version), frame in sorted(seen.items())]
        (FOLDER / f"{name}.hex").write_text(HEAD.format(name) + "".join(lines))
        print(f"{name}: {len(lines)} requests")
        shutil.rmtree(folder)


def _record(name, folder, seen):
    def keep(frame):
        if len(frame) <= BYTES_MAX:
            seen.setdefault(struct.unpack_from(">hh", frame, 4), frame[4:])

    proxy = Proxy(1, keep)
    broker = Klamm(folder / "broker", {"advertised.listeners": f"PLAINTEXT://{proxy.address}"}).start()
    proxy.start(broker.bootstrap)
    asked = client.start(name, proxy.address, folder)
    try:
        for do, arguments in _requests(folder):
            try:
                asked.ask(do, **arguments)
            except (Failure, Skip) as why:
                print(f"{name} {do}: {why}")
    finally:
        asked.close()
        proxy.close()
        broker.stop()


def _requests(folder):
    sent = records.write(str(folder / "sent"), RECORDS)
    read = {"topic": TOPIC, "file": str(folder / "read"), "count": len(RECORDS)}
    return [
        ("create", {"topic": TOPIC, "partitions": 1}),
        ("produce", {"topic": TOPIC, "file": sent}),
        ("produce", {"topic": TOPIC, "file": sent, "idempotent": True}),
        ("consume", read),
        ("consume", read | {"group": GROUP}),
        ("committed", {"topic": TOPIC, "group": GROUP}),
        ("offsets", {"topic": TOPIC, "time": -1}),
        ("offsets", {"topic": TOPIC, "time": 1_700_000_000_000}),
        ("groups", {}),
        ("describe_group", {"group": GROUP}),
        ("delete_group", {"group": GROUP}),
        ("delete_records", {"topic": TOPIC, "offsets": {"0": 1}}),
        ("alter", {"topic": TOPIC, "configs": {"retention.ms": "1000000"}}),
        ("describe", {"topic": TOPIC}),
        ("grow", {"topic": TOPIC, "partitions": 2}),
        ("topics", {}),
        ("delete", {"topic": TOPIC}),
    ]
