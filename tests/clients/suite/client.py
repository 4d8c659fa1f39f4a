"""Clients under test. Each is a process that takes requests as JSON lines and answers each with one; kcat, which does one
thing a run, has the same face."""

import json
import os
import queue
import subprocess
import threading

from . import process
from .failure import Failure, Gone, Skip
from .kcat import Kcat
from .paths import GO_CLIENTS, HERE, JVM, NODE, VENV_PYTHON

QUIET_JAVA = ["-Dorg.slf4j.simpleLogger.defaultLogLevel=off"]
COMMANDS = {
    "confluent-kafka": [VENV_PYTHON, "-u", HERE / "python" / "confluent_client.py"],
    "kafka-python": [VENV_PYTHON, "-u", HERE / "python" / "kafka_python_client.py"],
    "aiokafka": [VENV_PYTHON, "-u", HERE / "python" / "aiokafka_client.py"],
    "kafkajs": ["node", "--no-warnings", NODE / "kafkajs" / "client.js"],
    "platformatic": ["node", "--no-warnings", NODE / "platformatic" / "client.js"],
    "java": [*JVM[:1], *QUIET_JAVA, "-Xmx512m", *JVM[1:], "klamm.Client"],
    "franz-go": [GO_CLIENTS, "franz-go"],
    "sarama": [GO_CLIENTS, "sarama"],
    "kafka-go": [GO_CLIENTS, "kafka-go"],
}
NAMES = ["kcat", *COMMANDS]
REQUEST_SECONDS = 120


def start(name, bootstrap, folder):
    """Starts client `name`; its standard error goes to a file in `folder`."""
    return Kcat(bootstrap, folder) if name == "kcat" else Client(name, bootstrap, folder)


class Client:
    def __init__(self, name, bootstrap, folder):
        self.name = name
        self._errors = folder / f"{name}.stderr"
        with open(self._errors, "ab") as errors:
            self._child = process.start([*COMMANDS[name], bootstrap], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=errors, text=True, cwd=folder, env=os.environ | {"PYTHONPATH": str(HERE)})
        self._answers = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, do, seconds=REQUEST_SECONDS, **arguments):
        """Does one thing and returns the answer. Raises `Skip` when the client says that it cannot."""
        self.begin(do, **arguments)
        return self.finish(seconds)

    def begin(self, do, **arguments):
        """Sends a request; `finish` waits for its answer."""
        self._doing = do
        try:
            self._child.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise Gone(self._describe("is gone")) from None

    def finish(self, seconds=REQUEST_SECONDS):
        try:
            answer = self._answers.get(timeout=seconds)
        except queue.Empty:
            self.close()
            raise Gone(self._describe(f"had no answer after {seconds} s")) from None
        if answer is None:
            raise Gone(self._describe("ended"))
        if "cannot" in answer:
            raise Skip(f"{self.name} {answer['cannot']}")
        if "error" in answer:
            raise Failure(f"{self.name} {self._doing}: {answer['error']}")
        return answer["ok"]

    def close(self):
        if self._child.poll() is None:
            process.kill(self._child)

    def _read(self):
        for line in self._child.stdout:
            if line.startswith("{"):
                self._answers.put(json.loads(line))
        self._answers.put(None)

    def _describe(self, what):
        tail = self._errors.read_text(errors="replace").splitlines()[-5:]
        return "\n".join([f"{self.name} {self._doing}: the client {what}", *tail])
