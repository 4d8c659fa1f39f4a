"""Real logs through `log-alert`: the alerts' counts add up to the lines whose level field is an error, their sources are right, and a
real Alertmanager shows them and sees them end (issue 2, check 3)."""

import json
import re
import time
import urllib.request

from .. import records
from ..broker import free_port
from ..failure import Failure, expect, require
from ..plugin_files import shipped
from ..records import Record

CLIENTS = ["kcat"]
PLAIN_KAFKA = False
ALERTS = "__klamm_alerts"
ERRORS = {"error", "severe", "failure", "crit", "critical", "fatal", "alert", "emerg", "emergency", "panic"}
WARNINGS = ERRORS | {"warn", "warning"}
# Where each system writes its level; found here by eye, not by Klamm.
LEVELS = {
    "Apache_2k": rb"^\[[^\]]+\] \[(\w+)\]",
    "Hadoop_2k": rb"^\S+ \S+ (\w+) ",
    "Zookeeper_2k": rb"^\S+ \S+ - (\w+) ",
    "HDFS_2k": rb"^\d+ \d+ \d+ (\w+) ",
    "Spark_2k": rb"^\S+ \S+ (\w+) ",
    "OpenStack_2k": rb"^\S+ \S+ \S+ \d+ (\w+) ",
    "OpenSSH_2k": rb"^(?!)",
}
FIELDS = {"fingerprint": str, "severity": str, "title": str, "labels": dict, "topic": str, "count": int, "sources": list,
          "plugin": str, "plugin_version": str, "first_timestamp_ms": int, "last_timestamp_ms": int, "state": str}
RESOLVE_AFTER_MS = 10_000
POLICY = f"[alert]\nresolve-after-ms = {RESOLVE_AFTER_MS}\n"
# The shipped plugin by its own name, and a copy of it that also takes warnings.
WATCHED = {"log-alert": ERRORS, "log-warn": WARNINGS}
ALERTMANAGER = "route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n"
SECONDS = 180


def run(cell):
    logs = {name: records.lines(data) for name, data in records.log_files().items() if name in LEVELS}
    if not logs:
        return cell.skip("whole", "the loghub files are not here")
    address = _alertmanager(cell)
    sink = {"klamm.alert.sinks.am.type": "alertmanager", "klamm.alert.sinks.am.url": f"http://{address}"}
    broker = cell.own_broker(sink, plugins={
        "log-alert.toml": POLICY.encode(),
        "log-warn.toml": f'{POLICY}[config]\nlevels = "WARN"\n'.encode(),
        "log-warn.wasm": shipped("log-alert"),
    })
    reader, producer = cell.client(broker, name="java"), cell.client(broker)
    matching = {}
    # Each is looked for at once: the first alerts may have ended before the last log is sent.
    with cell.check("Alertmanager shows them"):
        for name, lines in logs.items():
            for plugin, levels in WATCHED.items():
                matching[plugin, name] = _offsets(name, lines, levels)
                _produce(cell, reader, producer, plugin, name, lines)
                if matching[plugin, name]:
                    _eventually(lambda: _expect_shown(address, cell.topic(plugin, name)))
    for (plugin, name), offsets in matching.items():
        with cell.check(f"{plugin} {name}: {len(offsets)} lines"):
            _eventually(lambda: _expect_alerts(cell, reader, plugin, name, offsets))
    with cell.check("every alert ends"):
        _eventually(lambda: expect({alert["state"] for alert in _latest(cell, reader).values()}, {"resolved"}, "states"))
    with cell.check("Alertmanager sees them end"):
        _eventually(lambda: expect(_shown(address), set(), "topics with alerts in Alertmanager"))


def _alertmanager(cell):
    config = cell.folder / "alertmanager.yml"
    config.write_text(ALERTMANAGER)
    address = f"127.0.0.1:{free_port()}"
    log = open(cell.folder / "alertmanager.log", "wb")
    cell.process(["prometheus-alertmanager", f"--config.file={config}", f"--storage.path={cell.folder / 'alertmanager'}",
                  f"--web.listen-address={address}", "--cluster.listen-address="], stdout=log, stderr=log)
    _eventually(lambda: _get(address, "/-/ready"))
    return address


def _produce(cell, reader, producer, plugin, name, lines):
    topic = cell.topic(plugin, name)
    reader.ask("create", topic=topic, partitions=1, configs={"klamm.transforms": plugin})
    file = records.write(cell.file(name), [Record(value=line) for line in lines])
    producer.ask("produce", topic=topic, file=file)


def _offsets(name, lines, levels):
    """Offsets of the lines whose level field is one of `levels`."""
    found = ((offset, re.match(LEVELS[name], line)) for offset, line in enumerate(lines))
    return [offset for offset, level in found if level and level[1].decode().lower() in levels]


def _expect_alerts(cell, reader, plugin, name, offsets):
    topic = cell.topic(plugin, name)
    alerts = [alert for alert in _latest(cell, reader, "firing").values() if alert["topic"] == topic]
    expect(sum(alert["count"] for alert in alerts), len(offsets), "sum of counts")
    for alert in alerts:
        expect({name: type(alert.get(name)) for name in FIELDS}, FIELDS, "types of the fields")
        expect(alert["plugin"], plugin, "plugin")
        expect(sum(source["count"] for source in alert["sources"]), alert["count"], "sum of the sources")
        expect([source["partition"] for source in alert["sources"]], [0], "partitions of the sources")
        ends = {alert["sources"][0]["first_offset"], alert["sources"][0]["last_offset"]}
        require(ends <= set(offsets), f"{alert['title']}: {ends} are not offsets of errors")
    if offsets:
        sources = [alert["sources"][0] for alert in alerts]
        expect(min(source["first_offset"] for source in sources), offsets[0], "first offset of all")
        expect(max(source["last_offset"] for source in sources), offsets[-1], "last offset of all")


def _latest(cell, reader, state=None):
    """The newest value of each key, or the newest in a state."""
    reader.ask("consume", topic=ALERTS, file=cell.file("alerts"))
    alerts = [(record.key, json.loads(record.value)) for record in records.read(cell.file("alerts")) if record.value]
    return {key: alert for key, alert in alerts if state in (None, alert["state"])}


def _expect_shown(address, topic):
    shown = _shown(address)
    require(topic in shown, f"{topic} is not among {sorted(shown)}")


def _shown(address):
    return {alert["labels"]["topic"] for alert in json.loads(_get(address, "/api/v2/alerts?active=true"))}


def _get(address, path):
    with urllib.request.urlopen(f"http://{address}{path}", timeout=30) as answer:
        return answer.read()


def _eventually(check):
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return check()
        except (Failure, OSError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.25)
