"""The same raw requests to Apache Kafka and to the broker under test; the decoded answers are equal field by field, but for what
`tests/clients/differential/allowed.json` allows (issue 3, check 3). Against Kafka, Kafka is compared with itself: what differs
then is the script's fault."""

import time

from ..broker import Kafka
from ..compare import Rules
from ..failure import Failure, Skip, expect, require
from ..paths import BUILD
from ..script import at, filled, first_values, scripts, versions

CLIENTS = ["java"]
PLAIN_KAFKA = True
# Old timestamps must not make records leave, and both take a moment for granted that is the same.
SETTINGS = {"node.id": "1", "log.retention.ms": "-1", "offsets.topic.num.partitions": "4", "num.partitions": "2",
            "group.min.session.timeout.ms": "1000", "offsets.topic.replication.factor": "1"}
SETTLE_SECONDS = 10
DIFFERENCES_TOLD = 12


def run(cell):
    if not list((BUILD / "java" / "lib").glob("kafka_2*.jar")):
        raise Skip("Apache Kafka's jars could not be had")
    reference = cell._keep(Kafka(cell.folder / "kafka", SETTINGS).start(), "stop")
    sides = [Side(cell.client(broker), broker.kind) for broker in (reference, cell.own_broker(SETTINGS))]
    play = Play(cell, sides)
    play.set_up()
    for script in scripts():
        play.script(script)
    with cell.check("every API and version that both announce"):
        expect(play.missing(), [], "never asked")
    with cell.check("no allowed difference that there is not"):
        unused = play.rules.unused() if cell.on_klamm else []
        require(not unused, f"out of date: {unused}")


class Side:
    """One broker: what it is asked through, and what it told that later requests need."""

    def __init__(self, client, kind):
        self.client = client
        self.kind = kind
        self.values = {}

    def send(self, step, version):
        body = filled(step.get("body", {}), self.values)
        frame = {"frame": filled(step["frame"], self.values)} if "frame" in step else {}
        return self.client.ask("raw_send", connection=step.get("connection", "main"), api=step["api"], version=version,
                               silent=step.get("silent", False), body=body, **frame)

    def receive(self, step):
        try:
            return self.client.ask("raw_receive", connection=step.get("receive", step.get("connection", "main")))
        except Failure as failure:
            raise Failure(f"{step['api']} of {self.kind}: {failure}") from None

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


class Play:
    def __init__(self, cell, sides):
        self.cell = cell
        self.sides = sides
        self.rules = Rules()
        self.answered = set()
        self.common = None

    def set_up(self):
        """Learns what both announce, and has the offsets topic made, which the first question about a group does."""
        names = {key: (name, lowest) for name, (key, lowest) in self.sides[0].client.ask("raw_apis").items()}
        one, other = (self._announced(side, names) for side in self.sides)
        self.common = {api: (max(one[api][0], other[api][0]), min(one[api][1], other[api][1])) for api in one if api in other}
        for side in self.sides:
            for step in (FIND, COMMITTED):
                _until(lambda: self._exchange(side, step, step["version"]), lambda answer: not _errors(answer))

    def script(self, script):
        first = first_values()
        for side in self.sides:
            side.values = dict(first)
            for name, topic in script.topics.items():
                self._create(side, name, topic)
        for step in script.steps:
            with self.cell.check(f"{script.name}: {step['step']}"):
                self._step(f"{script.name}/{step['step']}", step)

    def missing(self):
        every = {(api, version) for api, (low, high) in self.common.items() for version in range(low, high + 1)}
        return sorted(every - self.answered)

    def _step(self, title, step):
        if "receive" in step:
            return self._compare(title, step, None)
        asked = [step["answer"]] if "frame" in step else versions(step, self.common.get(step["api"]))
        unserved = {step["api"], step.get("needs", step["api"])} - self.common.keys()
        if "frame" not in step and unserved:
            raise Skip(f"not served: {', '.join(unserved)}")
        require(asked, f"no version of {step['api']} is asked")
        for version in asked:
            if "do" in step:
                self._each(title, step, version)
            else:
                self._compare(title, step, version)

    def _each(self, title, step, version):
        """The requests of `do` one after another, those of the step's API at `version`, the others at their last."""
        for part in step["do"]:
            part = {"api": step["api"]} | part
            own = part["api"] == step["api"]
            self._compare(title, part, version if own else self.common[part["api"]][1], version)

    def _compare(self, title, step, version, named=None):
        """One version of one step, on both. Scripts know it as `$version`, or the version of the step that it is part of."""
        for side in self.sides:
            side.values["version"] = version if named is None else named
        answers = self._answers(step, version)
        if answers is None:
            return
        if "answer" in answers[0]:
            self.answered.add((step["api"], version))
        what = f"version {version}"
        require("closed" in step or "closed" not in answers[0], f"{what}: Kafka closed the connection")
        expect(_errors(answers[0]), set(_listed(step.get("error", []))), f"{what}: errors of Kafka in {answers[0]}")
        for side, answer in zip(self.sides, answers):
            if "answer" in answer:
                side.keep(step, answer["answer"])
        named = [side.named(answer) for side, answer in zip(self.sides, answers)]
        trees = [answer.get("answer", answer) for answer in named]
        found = self.rules.differences(step["api"], title, *trees)
        told = "\n  ".join(str(difference) for difference in found[:DIFFERENCES_TOLD])
        require(not found, f"{what}, {len(found)} differences:\n  {told}")

    def _answers(self, step, version):
        """Both answers; asked again while a step that may `repeat` does not have the errors that it expects."""
        if "receive" not in step:
            sent = [side.send(step, version) for side in self.sides]
        if step.get("later") or step.get("silent"):
            return None
        answers = self._both(step)
        if step.get("repeat"):
            good = lambda answer: _errors(answer) == set(_listed(step.get("error", []))) and _has(answer, step.get("until"))
            answers = [answer if good(answer) else _until(lambda: self._exchange(side, step, version), good)
                       for side, answer in zip(self.sides, answers)]
        return answers

    def _both(self, step):
        """Where one does not answer, the other's connection is not used further either: its answer would be taken for the next."""
        try:
            return [side.receive(step) for side in self.sides]
        except Failure:
            for side in self.sides:
                side.client.ask("raw_close", connection=step.get("receive", step.get("connection", "main")))
            raise

    def _create(self, side, name, topic):
        body = {"timeoutMs": 10_000, "topics": [{
            "name": name, "numPartitions": topic.get("partitions", 1), "replicationFactor": 1,
            "configs": [{"name": key, "value": value} for key, value in topic.get("configs", {}).items()]}]}
        created = self._exchange(side, {"api": "CreateTopics", "body": body}, 7)
        require(not _errors(created), f"cannot make {name}: {created}")
        metadata = {"api": "Metadata", "body": {"topics": [{"name": name}]}}
        found = _until(lambda: self._exchange(side, metadata, 12), lambda answer: not _errors(answer))
        side.values[f"{name.replace('-', '_').replace('.', '_')}_id"] = at(found, "answer/topics/0/topicId")

    def _exchange(self, side, step, version):
        side.send(step, version)
        return side.receive(step)

    def _announced(self, side, names):
        """The range of versions of each API."""
        body = {"clientSoftwareName": "differential", "clientSoftwareVersion": "1"}
        answer = self._exchange(side, {"api": "ApiVersions", "body": body}, 3)["answer"]
        named = [(*names[api["apiKey"]], api) for api in answer["apiKeys"]]
        return {name: (max(lowest, api["minVersion"]), api["maxVersion"]) for name, lowest, api in named}


FIND = {"api": "FindCoordinator", "version": 3, "body": {"key": "set-up"}}
COMMITTED = {"api": "OffsetFetch", "version": 7, "body": {"groupId": "set-up", "topics": None}}


def _until(ask, good):
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        answer = ask()
        if good(answer) or time.monotonic() > deadline:
            return answer
        time.sleep(0.1)


def _errors(answer):
    """The names of all errors anywhere in an answer."""
    if isinstance(answer, list):
        return set().union(*map(_errors, answer))
    if not isinstance(answer, dict):
        return set()
    own = {answer["errorCode"]} - {"NONE"} if isinstance(answer.get("errorCode"), str) else set()
    return own.union(*map(_errors, answer.values()))


def _has(answer, until):
    try:
        return all(at(answer["answer"], path) == value for path, value in (until or {}).items())
    except LookupError:
        return False


def _listed(value):
    return [value] if isinstance(value, str) else value
