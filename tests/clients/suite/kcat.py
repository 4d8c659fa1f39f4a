"""kcat: a process for each request, the same face as the other clients."""

import json
import re
import subprocess

from .failure import Failure, Skip
from .records import Record, read, write

# Lengths first, so that any byte may stand in a key or a value.
FORMAT = "%p %o %T %K %S\n%k%s%h\n"
SEPARATOR = "\t"


class Kcat:
    name = "kcat"

    def __init__(self, bootstrap, folder):
        self._bootstrap = bootstrap
        self._folder = folder

    def ask(self, do, seconds=120, **arguments):
        verb = getattr(self, f"_{do}", None)
        if verb is None:
            raise Skip(f"kcat cannot {do}")
        return verb(seconds=seconds, **arguments)

    def close(self):
        """Nothing outlives a request."""

    def _produce(self, topic, file, codec="none", acks=-1, idempotent=False, seconds=120, **_):
        records = read(file)
        if any(record.timestamp or record.headers for record in records):
            raise Skip("kcat sets no timestamp, and headers for all records only")
        lines = b"\n".join(_line(record) for record in records)
        source = self._folder / "kcat.input"
        source.write_bytes(lines)
        settings = {"acks": acks, "enable.idempotence": str(idempotent).lower(), "linger.ms": 200, "message.max.bytes": 4_000_000}
        keyed = ["-K", SEPARATOR] if any(record.key is not None for record in records) else []
        # -E: goes on when its only connection was cut.
        self._run(["-E", "-P", "-t", topic, "-z", codec, *keyed, *_settings(settings), "-l", source], seconds)
        return {"errors": []}

    def _consume(self, topic, file, offsets=None, time=None, group=None, count=None, seconds=120, **_):
        if group:
            settings = _settings({"auto.offset.reset": "earliest"})
            run = ["-G", group, *settings, "-c", count, "-e", "-f", FORMAT, topic]
            found = _parse(self._run(run, seconds))
        elif offsets:
            found = [record for partition, offset in offsets.items()
                     for record in self._read(topic, ["-p", partition, "-o", offset], seconds)]
        else:
            found = self._read(topic, ["-o", "beginning" if time is None else f"s@{time}"], seconds)
        write(file, found)
        return {"count": len(found)}

    def _read(self, topic, where, seconds):
        settings = _settings({"fetch.wait.max.ms": 50})
        return _parse(self._run(["-C", "-t", topic, *where, *settings, "-e", "-f", FORMAT], seconds))

    def _offsets(self, topic, time, seconds=120):
        listed = json.loads(self._run(["-L", "-t", topic, "-J"], seconds))["topics"][0]["partitions"]
        queries = [part for entry in listed for part in ("-t", f"{topic}:{entry['partition']}:{time}")]
        answer = self._run(["-Q", *queries], seconds).decode()
        return {partition: int(offset) for partition, offset in re.findall(r"\[(\d+)\] offset (-?\d+)", answer)}

    def _run(self, arguments, seconds):
        command = ["kcat", "-b", self._bootstrap, *map(str, arguments)]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{' '.join(command)}: not done after {seconds} s") from None
        if done.returncode:
            raise Failure(f"{' '.join(command)}: status {done.returncode}: {done.stderr.decode(errors='replace')}")
        return done.stdout


def _line(record):
    if record.key is None:
        return record.value
    return record.key + SEPARATOR.encode() + record.value


def _settings(settings):
    return [part for name, value in settings.items() for part in ("-X", f"{name}={value}")]


def _parse(output):
    found, at = [], 0
    while at < len(output):
        end = output.index(b"\n", at)
        partition, offset, timestamp, key_len, value_len = map(int, output[at:end].split())
        key, at = _take(output, end + 1, key_len)
        value, at = _take(output, at, value_len)
        end = output.index(b"\n", at)
        found.append(Record(key, value, _headers(output[at:end]), timestamp, partition, offset))
        at = end + 1
    return found


def _headers(text):
    """Of names and values without commas, equal signs and line feeds."""
    pairs = (header.partition(b"=") for header in text.split(b",") if header)
    return tuple((name.decode(), value) for name, _, value in pairs)


def _take(output, at, length):
    return (None, at) if length < 0 else (output[at:at + length], at + length)
