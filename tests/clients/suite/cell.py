"""One client in one scenario: what it may use, and what came of it."""

import re
import time
import traceback
from contextlib import contextmanager

from . import client, process
from .broker import Kafka, Klamm
from .failure import Failure, Gone, Skip
from .plugin_files import put
from .proxy import Proxy

TOOL = "java"
VISIBLE_SECONDS = 120


class Cell:
    def __init__(self, scenario, client_name, run):
        self.scenario = scenario
        self.client_name = client_name
        self.options = run.options
        self.folder = run.folder / scenario / client_name
        self.folder.mkdir(parents=True)
        self.passed, self.failed, self.skipped = [], [], []
        self.seconds = 0
        self._run = run
        self._open = []

    @property
    def on_klamm(self):
        return self.options.against == "klamm"

    @property
    def broker(self):
        """The broker that all scenarios share."""
        return self._run.shared_broker()

    @property
    def tool(self):
        """The Java client on the shared broker: makes topics and knows Kafka's own answers."""
        return self._run.shared_tool()

    def own_broker(self, settings=None, plugins=None):
        """A broker for this cell alone, started; the cell may kill it. `plugins`: files that it finds when it starts."""
        kind = Klamm if self.on_klamm else Kafka
        broker = self._keep(kind(self.folder / f"broker{len(self._open)}", settings), "stop")
        for name, data in (plugins or {}).items():
            put(broker, name, data)
        return broker.start()

    def proxied_broker(self, seed, **incidents):
        """A broker of its own that clients reach through a hostile proxy only, and that proxy."""
        proxy = self._keep(Proxy(seed, **incidents), "close")
        broker = self.own_broker({"advertised.listeners": f"PLAINTEXT://{proxy.address}"})
        proxy.start(broker.bootstrap)
        return broker, proxy

    def client(self, broker=None, name=None, bootstrap=None):
        """A new process of this cell's client, or of client `name`."""
        address = bootstrap or (broker or self.broker).bootstrap
        return self._keep(client.start(name or self.client_name, address, self.folder), "close")

    def process(self, command, **options):
        """Any other process that this cell needs; it is stopped with the cell."""
        child = process.start(command, **options)
        self._open.append(lambda: process.stop(child))
        return child

    def topic(self, *words):
        """A name that no other cell uses."""
        return re.sub(r"[^a-zA-Z0-9._-]", "-", ".".join([self.scenario, self.client_name, *words]))

    def file(self, name):
        return str(self.folder / name)

    @contextmanager
    def check(self, name):
        """A check passes unless something is raised in it. A failure does not end the cell, unless a client is gone."""
        try:
            yield
        except Gone:
            raise
        except Skip as skip:
            self.skipped.append((name, str(skip)))
        except Failure as failure:
            self.failed.append((name, str(failure)))
        except (OSError, LookupError, TypeError, ValueError) as strange:
            self.failed.append((name, repr(strange)))
        else:
            self.passed.append(name)

    @staticmethod
    def eventually(check):
        """Waits until `check` passes: what the controller or a coordinator has answered reaches the rest a moment later."""
        deadline = time.monotonic() + VISIBLE_SECONDS
        while True:
            try:
                return check()
            except Failure:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def skip(self, name, why):
        self.skipped.append((name, why))

    def run(self, scenario):
        started = time.monotonic()
        try:
            scenario.run(self)
        except Skip as skip:
            self.skip("whole", str(skip))
        except Failure as failure:
            self.failed.append(("whole", str(failure)))
        except Exception as bug:
            traceback.print_exc()
            self.failed.append(("whole", repr(bug)))
        for close in reversed(self._open):
            close()
        self.seconds = time.monotonic() - started

    def _keep(self, thing, closing):
        self._open.append(getattr(thing, closing))
        return thing
