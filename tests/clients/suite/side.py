"""One of the two brokers that are compared: raw requests to it, and what it told that later requests need."""

import time

from .failure import Failure
from .script import at, filled

SETTLE_SECONDS = 10


class Side:
    """One broker: what it is asked through, and what it told that later requests need."""

    def __init__(self, client, kind):
        self.client = client
        self.kind = kind
        self.values = {}

    def send(self, step, version):
        """Returns the body with this broker's own values, and the bytes that went."""
        body = filled(step.get("body", {}), self.values)
        frame = {"frame": step["frame"]} if "frame" in step else {}
        return body, self.client.ask("raw_send", connection=step.get("connection", "main"), api=step["api"], version=version,
                                     silent=step.get("silent", False), body=body, **frame)

    def receive(self, step):
        try:
            return self.client.ask("raw_receive", connection=_connection(step))
        except Failure as failure:
            raise Failure(f"{step['api']} of {self.kind}: {failure}") from None

    def exchange(self, step, version):
        self.send(step, version)
        return self.receive(step)

    def until(self, good, step, version):
        """Asks again until the answer is good, or the last one after a while."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            answer = self.exchange(step, version)
            if good(answer) or time.monotonic() > deadline:
                return answer
            time.sleep(0.1)

    def close(self, step):
        self.client.ask("raw_close", connection=_connection(step))

    def keep(self, step, answer):
        for name, path in step.get("keep", {}).items():
            self.values[name] = at(answer, path)

    def named(self, tree):
        """An answer with what is this broker's own by the name under which it was kept."""
        if isinstance(tree, dict):
            return {key: self.named(part) for key, part in tree.items()}
        if isinstance(tree, list):
            return [self.named(part) for part in tree]
        own = isinstance(tree, str) and len(tree) > 8
        return next((f"${name}" for name, value in self.values.items() if own and value == tree), tree)


def _connection(step):
    return step.get("receive", step.get("connection", "main"))


def errors(answer):
    """The names of all errors anywhere in an answer."""
    if isinstance(answer, list):
        return set().union(*map(errors, answer))
    if not isinstance(answer, dict):
        return set()
    own = {answer["errorCode"]} - {"NONE"} if isinstance(answer.get("errorCode"), str) else set()
    return own.union(*map(errors, answer.values()))
