"""kcat: a process for each request, the same face as the other clients."""

import subprocess

from .failure import Failure, Skip
from .records import Record, read, write

# Lengths first, so that any byte may stand in a key or a value.
FORMAT = "%p %o %T %K %S\n%k%s\n"
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
        lines = b"\n".join(_line(record) for record in records)
        source = self._folder / "kcat.input"
        source.write_bytes(lines)
        settings = {"acks": acks, "enable.idempotence": str(idempotent).lower(), "linger.ms": 200}
        keyed = ["-K", SEPARATOR] if any(record.key is not None for record in records) else []
        self._run(["-P", "-t", topic, "-z", codec, *keyed, *_settings(settings), "-l", source], seconds)
        return {}

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

    def _run(self, arguments, seconds):
        command = ["kcat", "-q", "-b", self._bootstrap, *map(str, arguments)]
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
        found.append(Record(key, value, (), timestamp, partition, offset))
        at += 1
    return found


def _take(output, at, length):
    return (None, at) if length < 0 else (output[at:at + length], at + length)
