"""A TCP proxy between clients and a broker that swallows answers and cuts connections.

What happens to a connection is drawn from the seed and the connection's number alone. Only produce requests set an
incident off, so that each hits a batch whose fate the producer then cannot know, or knows to be lost.
"""

import random
import socket
import struct
import threading
import time
from collections import deque

PRODUCE = 0
# Swallowed: stored, but the producer is not told. Unsent: not stored. Torn: the broker sees half of a request.
INCIDENTS = ["swallow the answer", "do not send", "tear the request", "tear the answer", "hold the answer"]
HOLD_SECONDS = 1.5


class Proxy:
    def __init__(self, seed):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._seed = seed
        self._target = None
        self._connections = 0
        self.hostile = False
        self.incidents = dict.fromkeys(INCIDENTS, 0)

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


class _Passage:
    """A connection: produce request number `fatal` on it meets an incident, which ends it."""

    def __init__(self, proxy, client, broker, dice):
        self._proxy = proxy
        self._client = client
        self._broker = broker
        self._fatal = dice.randint(1, 12)
        self._incident = dice.choice(INCIDENTS)
        self._produced = 0
        # Correlation ids of requests whose answers meet the incident: answers come in the order of requests.
        self._expected = deque()

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
            api, _version, correlation = struct.unpack_from(">hhi", frame, 4)
            if api == PRODUCE and self._is_fatal():
                if self._incident == "do not send":
                    return
                if self._incident == "tear the request":
                    self._broker.sendall(frame[:len(frame) // 2])
                    return
                self._expected.append(correlation)
            self._broker.sendall(frame)

    def _is_fatal(self):
        if not self._proxy.hostile:
            return False
        self._produced += 1
        if self._produced == self._fatal:
            self._proxy.incidents[self._incident] += 1
        return self._produced == self._fatal

    def _answers(self):
        while frame := _frame(self._broker):
            (correlation,) = struct.unpack_from(">i", frame, 4)
            if correlation in self._expected:
                if self._incident == "tear the answer":
                    self._client.sendall(frame[:len(frame) // 2])
                if self._incident != "hold the answer":
                    return
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
