"""Brokers under test: Klamm, or Apache Kafka as the measure of this suite itself."""

import re
import socket
import subprocess
import time
import uuid

from . import process
from .failure import Failure
from .paths import BUILD, JVM, KLAMM

START_SECONDS = 180
READY = re.compile(r"klamm is ready:.*?PLAINTEXT://([\d.]+:\d+).*?http://([\d.]+:\d+)")
# A run does not wait Kafka's three seconds for each group.
GROUP_DELAY = {"group.initial.rebalance.delay.ms": "250"}
# Limits are wall time: a busy machine must not make a good plugin fail.
PATIENT = {"klamm.plugin.call.timeout.ms": "60000", "klamm.plugin.load.timeout.ms": "120000"}
# Compiling the shipped plugins is most of a start: all brokers share what was compiled once.
PLUGIN_CACHE = BUILD / "plugin-cache"


class Broker:
    """A process with a folder of its own, which it keeps over `kill` and `start`."""

    def __init__(self, folder, settings=None):
        self.folder = folder
        self.settings = GROUP_DELAY | (settings or {})
        self.data = folder / "data"
        self.log = folder / "broker.log"
        self.bootstrap = None
        self.child = None
        folder.mkdir(parents=True, exist_ok=True)

    def stop(self):
        """Returns the exit status."""
        return process.stop(self.child)

    def kill(self):
        """SIGKILL, as a crash."""
        process.kill(self.child)

    def _start(self, command, ready):
        """Runs `command` until `ready` answers with something that is true, and returns that."""
        seen = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "ab") as log:
            self.child = process.start(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.child.poll() is None:
            if found := ready(self.log.read_bytes()[seen:].decode(errors="replace")):
                return found
            time.sleep(0.02)
        raise Failure(f"the broker did not start; its log: {self.log}\n{self.log_tail()}")

    def log_tail(self):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])


class Klamm(Broker):
    kind = "klamm"

    def __init__(self, folder, settings=None):
        super().__init__(folder, settings)
        self.plugins = folder / "plugins"
        self.plugins.mkdir()
        self.data.mkdir()
        PLUGIN_CACHE.mkdir(parents=True, exist_ok=True)
        (self.data / "plugin-cache").symlink_to(PLUGIN_CACHE)
        self.http = None

    def start(self):
        """On free ports the first time, on the same ones after a `kill` or `stop`."""
        settings = {
            "listeners": f"PLAINTEXT://{self.bootstrap or '127.0.0.1:0'}",
            "klamm.http.listen": self.http or "127.0.0.1:0",
            "log.dirs": str(self.data),
            "klamm.plugin.dir": str(self.plugins),
        } | PATIENT | self.settings
        sets = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        ready = self._start([KLAMM, "serve", *sets], READY.search)
        self.bootstrap, self.http = ready.groups()
        return self


class Kafka(Broker):
    """One node of Apache Kafka in KRaft mode, without Klamm's settings."""

    kind = "kafka"

    def start(self):
        properties = self.folder / "server.properties"
        if not self.bootstrap:
            self.bootstrap = f"127.0.0.1:{free_port()}"
            properties.write_text(self._properties(free_port()))
            self._format(properties)
        host, port = self.bootstrap.split(":")
        self._start([*JVM[:1], "-Xmx512m", *_log_level("warn"), *JVM[1:], "kafka.Kafka", properties],
                    lambda log: _answers(host, int(port)))
        return self

    def _properties(self, controller_port):
        own = {key: value for key, value in self.settings.items() if not key.startswith("klamm.")}
        return "\n".join(f"{key}={value}" for key, value in ({
            "node.id": "1",
            "process.roles": "broker,controller",
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://127.0.0.1:{controller_port}",
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
            "log.dirs": str(self.data),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "4",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "metric.reporters": "klamm.TelemetryReceiver",
        } | own).items())

    def _format(self, properties):
        cluster = uuid.uuid4().hex[:22]
        subprocess.run([*JVM, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)], check=True,
                       capture_output=True)


def _log_level(level):
    return [f"-Dorg.slf4j.simpleLogger.defaultLogLevel={level}"]


def _answers(host, port):
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex((host, port)) == 0


def free_port():
    """A port that was free a moment ago, for servers that cannot tell which one they took."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
