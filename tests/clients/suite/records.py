"""Records as the runner and the clients exchange them: files of one JSON object a line, bytes in base64.

`k` key, `v` value (each null or base64), `h` headers as pairs of name and value, `t` timestamp in milliseconds, `p`
partition, `o` offset. What a producer need not fix is left out.
"""

import base64
import json
from typing import NamedTuple

from .paths import EXAMPLE_LOGS, LOGHUB


class Record(NamedTuple):
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple = ()
    timestamp: int | None = None
    partition: int | None = None
    offset: int | None = None


def write(path, records):
    with open(path, "w") as out:
        out.writelines(json.dumps(_line(record)) + "\n" for record in records)
    return str(path)


def read(path):
    with open(path) as lines:
        return [_record(json.loads(line)) for line in lines]


def _line(record):
    headers = [[name, encode(value)] for name, value in record.headers] or None
    line = {"k": encode(record.key), "v": encode(record.value), "h": headers, "t": record.timestamp,
            "p": record.partition, "o": record.offset}
    return {name: value for name, value in line.items() if value is not None or name in "kv"}


def _record(line):
    headers = tuple((name, _decode(value)) for name, value in line.get("h", []))
    return Record(_decode(line["k"]), _decode(line["v"]), headers, line.get("t"), line.get("p"), line.get("o"))


def encode(data):
    return None if data is None else base64.b64encode(data).decode()


def _decode(text):
    return None if text is None else base64.b64decode(text)


def log_files():
    """Name and bytes of the real logs, else of the repository's samples, else of logs made up here."""
    for folder in (LOGHUB, EXAMPLE_LOGS):
        found = {path.stem: path.read_bytes() for path in sorted(folder.glob("*.log"))}
        if found:
            return found
    return _made_up_logs()


def lines(data):
    """The records of a log file as kcat cuts them: at each line feed, with the carriage return kept."""
    parts = data.split(b"\n")
    return parts[:-1] if parts[-1] == b"" else parts


def _made_up_logs():
    line = "2026-01-01 00:00:{:02} {} component.{}: processed item {} in {} ms"
    levels = ["INFO", "INFO", "WARN", "INFO", "ERROR"]
    texts = [line.format(i % 60, levels[i % 5], i % 7, i, i * 37 % 1000).encode() for i in range(2000)]
    return {"crlf_without_last_end": b"\r\n".join(texts), "lf": b"\n".join(texts) + b"\n"}
