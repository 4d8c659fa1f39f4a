"""A member of a group that polls in a thread, the history of what it owned, and the places of what it has read, if it notes them."""

import threading
import time


class Member:
    """`poll` is called until `leave`, then `close`, both in the member's own thread."""

    def __init__(self, poll, close):
        self.owned = set()
        self.history = []
        self.read = []
        self._poll = poll
        self._close = close
        self._leaving = threading.Event()
        self._error = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()

    def assigned(self, partitions):
        self._note("+", partitions)
        self.owned |= partitions

    def revoked(self, partitions):
        self._note("-", partitions)
        self.owned -= partitions

    def state(self):
        if self._error:
            raise self._error
        return {"owned": sorted(self.owned), "history": list(self.history), "read": list(self.read)}

    def leave(self):
        self._leaving.set()
        self._thread.join(30)
        self.revoked(set(self.owned))
        return {"history": self.history, "read": self.read}

    def _note(self, sign, partitions):
        now = time.time() * 1000
        self.history += [[now, sign, topic, partition] for topic, partition in sorted(partitions)]

    def _run(self):
        try:
            while not self._leaving.is_set():
                self._poll()
            self._close()
        except Exception as error:
            self._error = error
