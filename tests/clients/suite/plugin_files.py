"""Plugin files in a broker's watched directory, put there as a careful operator would: whole, by a rename."""

import hashlib
import json
import os
import time
import urllib.request

from .failure import Failure
from .paths import REPO

LOAD_SECONDS = 180


def reload(broker, name, version):
    """Puts another valid version of a shipped plugin in place, the same code with a custom section of its own, and waits until the
    broker works with it."""
    data = shipped(name) + _custom_section(version.encode())
    put(broker, f"{name}.wasm", data)
    deadline = time.monotonic() + LOAD_SECONDS
    while _active(broker, name) != hashlib.sha256(data).hexdigest():
        if time.monotonic() > deadline:
            raise Failure(f"{name} was not loaded in another version: {_active(broker, name)}")
        time.sleep(0.05)


def _active(broker, name):
    with urllib.request.urlopen(f"http://{broker.http}/v1/plugins", timeout=30) as answer:
        return next(plugin["sha256"] for plugin in json.load(answer) if plugin["name"] == name)


def shipped(name):
    return (REPO / "plugins" / name / f"{name}.wasm").read_bytes()


def test_guest(name):
    return (REPO / "tests" / "guests" / name / f"{name}.wasm").read_bytes()


def put(broker, file, data):
    hidden = broker.plugins / f".{file}.new"
    hidden.write_bytes(data)
    os.replace(hidden, broker.plugins / file)


def _custom_section(content):
    name = b"version"
    body = bytes([len(name)]) + name + content
    assert len(body) < 128, "the length is one byte of LEB128"
    return b"\x00" + bytes([len(body)]) + body
