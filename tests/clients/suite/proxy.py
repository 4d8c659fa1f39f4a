"""A TCP proxy between clients and a broker that swallows answers and cuts connections.

Only produce requests set an incident off, so that each hits a batch whose fate the producer then cannot know. When, is drawn
from the seed and the connection's number; the kinds of incidents come in shuffled rounds, so that none is left out.
"""

import random
import socket
import struct
import threading
import time

PRODUCE = 0
SWALLOW = "swallow the answer"
INCIDENTS = [SWALLOW, "do not send", "tear the request", "tear the answer", "hold the answer"]
# Longer than a lingering batch, shorter than a client's request timeout.
HOLD_SECONDS = 1.5
REQUESTS_BETWEEN_MAX = 60
# Until each kind has happened once: where a busy machine makes few and large requests, there are still enough of them.
REQUESTS_BETWEEN_FIRST_MAX = 10


class Proxy:
    def __init__(self, seed, on_request=lambda frame: None, kinds=INCIDENTS, between_max=REQUESTS_BETWEEN_MAX):
        """`on_request` is told of each whole request before anything happens to it. On a connection, `between_max` produce requests
        at most pass between two incidents, each of one of `kinds`."""
        self.on_request = on_request
        self._between_max = between_max
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._seed = seed
        self._kinds = _shuffled_rounds(random.Random(seed), kinds)
        self._target = None
        self._connections = 0
        self.hostile = False
        self.incidents = dict.fromkeys(kinds, 0)

    @property
    def address(self):
        host, port = self._listener.getsockname()
        return f"{host}:{port}"

    def start(self, target):
        """Begins to pass connections to `target`; they are harmless until `hostile` is set."""
        host, port = target.split(":")
        self._target = (host, int(port))
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()

    def incident(self):
        """The kind of the next incident."""
        kind = next(self._kinds)
        self.incidents[kind] += 1
        return kind

    def requests_between_max(self):
        return self._between_max if all(self.incidents.values()) else min(self._between_max, REQUESTS_BETWEEN_FIRST_MAX)

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._connections += 1
            dice = random.Random(f"{self._seed}:{self._connections}")
            try:
                broker = socket.create_connection(self._target, timeout=5)
            except OSError:
                client.close()
                continue
            broker.settimeout(None)
            _Passage(self, client, broker, dice).start()


def _shuffled_rounds(dice, kinds):
    while True:
        yield from dice.sample(kinds, len(kinds))


class _Passage:
    """A connection: some produce requests on it meet an incident, which mostly ends it."""

    def __init__(self, proxy, client, broker, dice):
        self._proxy = proxy
        self._client = client
        self._broker = broker
        self._dice = dice
        self._harmless = self._draw()
        # What the answers of some requests meet, by correlation id.
        self._fates = {}

    def start(self):
        for pump in (self._requests, self._answers):
            threading.Thread(target=self._run, args=[pump], daemon=True).start()

    def _run(self, pump):
        try:
            pump()
        except (OSError, struct.error):
            pass
        finally:
            for end in (self._client, self._broker):
                _shut(end)

    def _requests(self):
        while frame := _frame(self._client):
            self._proxy.on_request(frame)
            api, _version, correlation = struct.unpack_from(">hhi", frame, 4)
            if api == PRODUCE and self._proxy.hostile and self._is_fatal():
                incident = self._proxy.incident()
                if incident == "do not send":
                    return
                if incident == "tear the request":
                    self._broker.sendall(frame[:len(frame) // 2])
                    return
                self._fates[correlation] = incident
            self._broker.sendall(frame)

    def _is_fatal(self):
        self._harmless -= 1
        if self._harmless < 0:
            self._harmless = self._draw()
            return True
        return False

    def _draw(self):
        """How many produce requests pass before the next incident."""
        return self._dice.randrange(self._proxy.requests_between_max())

    def _answers(self):
        while frame := _frame(self._broker):
            (correlation,) = struct.unpack_from(">i", frame, 4)
            fate = self._fates.pop(correlation, None)
            if fate == "tear the answer":
                self._client.sendall(frame[:len(frame) // 2])
            if fate in ("tear the answer", SWALLOW):
                return
            if fate == "hold the answer":
                time.sleep(HOLD_SECONDS)
            self._client.sendall(frame)


def _frame(source):
    """A whole frame with its length, or nothing at the end."""
    head = _exactly(source, 4)
    if len(head) < 4:
        return b""
    (length,) = struct.unpack(">i", head)
    body = _exactly(source, length)
    return head + body if len(body) == length else b""


def _exactly(source, length):
    data = bytearray()
    while len(data) < length:
        part = source.recv(length - len(data))
        if not part:
            break
        data += part
    return bytes(data)


def _shut(end):
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()
