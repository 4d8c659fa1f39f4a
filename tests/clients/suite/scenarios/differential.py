"""The same raw requests to Apache Kafka and to the broker under test; the decoded answers are equal field by field, but for what
`tests/clients/differential/allowed.json` allows (issue 3, check 3). Against Kafka, Kafka is compared with itself: what differs
then is the script's fault."""

from ..broker import Kafka
from ..compare import Rules
from ..failure import Failure, Skip, expect, require
from ..paths import BUILD
from ..script import at, first_values, scripts, versions
from ..side import Side, errors

CLIENTS = ["java"]
PLAIN_KAFKA = True
# Old timestamps must not make records leave.
SETTINGS = {"node.id": "1", "log.retention.ms": "-1", "offsets.topic.num.partitions": "4", "num.partitions": "2",
            "group.min.session.timeout.ms": "1000", "offsets.topic.replication.factor": "1"}
DIFFERENCES_TOLD = 12


def run(cell):
    if not list((BUILD / "java" / "lib").glob("kafka_2*.jar")):
        raise Skip("Apache Kafka's jars could not be had")
    brokers = [cell.own_broker(SETTINGS, kind=Kafka), cell.own_broker(SETTINGS)]
    sides = [Side(cell.client(broker), broker.kind) for broker in brokers]
    play = Play(cell, sides)
    play.set_up()
    for script in scripts():
        play.script(script)
    if cell.on_klamm:
        with cell.check("every API and version that both announce"):
            expect(play.missing(), [], "never asked")
        with cell.check("no allowed difference that there is not"):
            unused = play.rules.unused()
            require(not unused, f"{len(unused)} are out of date: {', '.join(unused)}")


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
                side.until(lambda answer: not errors(answer), step, step["version"])

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
        if "receive" not in step:
            self._send(step, version)
        if step.get("later") or step.get("silent"):
            return
        answers = self._answers(step, version)
        if "answer" in answers[0]:
            self.answered.add((step["api"], version))
        _expect_of_kafka(step, answers[0], f"version {version}")
        self._expect_equal(title, step, answers, f"version {version}")

    def _send(self, step, version):
        sent = [side.send(step, version) for side in self.sides]
        own = sent[0][0] != sent[1][0]
        require(own or sent[0][1] == sent[1][1], f"not the same bytes: {sent}")

    def _answers(self, step, version):
        """Both answers; asked again while a step that may `repeat` does not have what it waits for."""
        answers = self._both(step)
        if not step.get("repeat"):
            return answers
        wanted = set(_listed(step.get("error", [])))

        def good(answer):
            return errors(answer) == wanted and _has(answer, step.get("until"))
        return [answer if good(answer) else side.until(good, step, version) for side, answer in zip(self.sides, answers)]

    def _expect_equal(self, title, step, answers, what):
        for side, answer in zip(self.sides, answers):
            if "answer" in answer:
                side.keep(step, answer["answer"])
        named = [side.named(answer) for side, answer in zip(self.sides, answers)]
        found = self.rules.differences(step["api"], title, *(answer.get("answer", answer) for answer in named))
        told = "\n  ".join(str(difference) for difference in found[:DIFFERENCES_TOLD])
        require(not found, f"{what}, {len(found)} differences:\n  {told}")

    def _both(self, step):
        """Where one does not answer, the other's connection is not used further either: its answer would be taken for the next."""
        try:
            return [side.receive(step) for side in self.sides]
        except Failure:
            for side in self.sides:
                side.close(step)
            raise

    def _create(self, side, name, topic):
        body = {"timeoutMs": 10_000, "topics": [{
            "name": name, "numPartitions": topic.get("partitions", 1), "replicationFactor": 1,
            "configs": [{"name": key, "value": value} for key, value in topic.get("configs", {}).items()]}]}
        created = side.exchange({"api": "CreateTopics", "body": body}, 7)
        require(not errors(created), f"cannot make {name}: {created}")
        metadata = {"api": "Metadata", "body": {"topics": [{"name": name}]}}
        found = side.until(lambda answer: not errors(answer), metadata, 12)
        side.values[f"{name.replace('-', '_').replace('.', '_')}_id"] = at(found, "answer/topics/0/topicId")

    def _announced(self, side, names):
        """The range of versions of each API."""
        body = {"clientSoftwareName": "differential", "clientSoftwareVersion": "1"}
        answer = side.exchange({"api": "ApiVersions", "body": body}, 3)["answer"]
        named = [(*names[api["apiKey"]], api) for api in answer["apiKeys"]]
        return {name: (max(lowest, api["minVersion"]), api["maxVersion"]) for name, lowest, api in named}


FIND = {"api": "FindCoordinator", "version": 3, "body": {"key": "set-up"}}
COMMITTED = {"api": "OffsetFetch", "version": 7, "body": {"groupId": "set-up", "topics": None}}


def _expect_of_kafka(step, answer, what):
    """So that a script cannot go wrong unseen."""
    require("closed" in step or "closed" not in answer, f"{what}: Kafka closed the connection")
    expect(errors(answer), set(_listed(step.get("error", []))), f"{what}: errors of Kafka in {answer}")


def _has(answer, until):
    try:
        return all(at(answer["answer"], path) == value for path, value in (until or {}).items())
    except LookupError:
        return False


def _listed(value):
    return [value] if isinstance(value, str) else value
