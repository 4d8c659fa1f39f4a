"""Groups of the consumer protocol (KIP-848): the broker assigns by its own assignors and, on Klamm, by a plugin; members come, go, are
killed and come back; topics match, are made and grow; every record is read while all that happens."""

import time

from .. import records
from ..client import NAMES
from ..failure import Failure, expect, require
from ..plugin_files import shipped
from ..records import Record
from .commit_resume import COUNT, TURNS
from .group import expect_one_owner

SPEAKS = ["confluent-kafka", "java", "franz-go"]
CLIENTS = NAMES
CANNOT = {name: "speaks the classic protocol only" for name in NAMES if name not in SPEAKS} | {
    "platformatic": "does not tell its assignment in the consumer protocol"}
PLAIN_KAFKA = True
PARTITIONS = 12
SECONDS = 120
STABLE_SECONDS = 1.0
SESSION_SECONDS = 6
# Nobody waits Kafka's 45 seconds for a member that was killed.
TIMES = {
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": str(SESSION_SECONDS * 1000),
}
WAVES, WAVE_RECORDS = 6, 200


def run(cell):
    broker = cell.own_broker(TIMES, {"sticky.wasm": shipped("sticky")} if cell.on_klamm else {})
    tool = cell.client(broker, "java")
    for scene in (_shares, _ranges, _plugin, _static, _matches, _resumes, _killed, _all_records):
        scene(cell, broker, tool)


class Group:
    """Members of one group, each in a process that may be shared; `topics` are what they should have together."""

    def __init__(self, cell, client, word, topics, **how):
        self.name = cell.topic(word)
        self.topics = topics
        self.histories, self.read = {}, []
        self._client, self._how, self._of = client, how, {}

    def join(self, number, client=None, **how):
        member = f"{self.name}.{number}"
        wanted = {} if "regex" in self._how else {"topics": sorted(self.topics)}
        self._of[member] = client or self._client
        self._of[member].ask("join", member=member, group=self.name, protocol="consumer", **wanted, **self._how, **how)
        return member

    def leave(self, member):
        self._note(member, self._of.pop(member).ask("leave", member=member))

    def forget(self, member):
        del self._of[member]

    def end(self):
        for member in list(self._of):
            self.leave(member)

    def owned(self):
        found = {}
        for member, client in self._of.items():
            state = client.ask("assignment", member=member)
            found[member] = {tuple(at) for at in state["owned"]}
        return found

    def settled(self):
        """What each member owns, once each owns something, every partition has one owner, and nothing has changed for a while."""
        wanted = sorted((topic, partition) for topic, partitions in self.topics.items() for partition in range(partitions))
        deadline, seen, since = time.monotonic() + SECONDS, None, 0
        while time.monotonic() < deadline:
            owned = self.owned()
            if owned != seen:
                seen, since = owned, time.monotonic()
            is_whole = all(owned.values()) and sorted(at for partitions in owned.values() for at in partitions) == wanted
            if is_whole and time.monotonic() - since > STABLE_SECONDS:
                return owned
            time.sleep(0.1)
        raise Failure(f"{self.name} is not settled: {seen}")

    def _note(self, member, told):
        self.histories[member] = told["history"]
        self.read += map(tuple, told["read"])


def _create(cell, tool, word, partitions=PARTITIONS):
    topic = cell.topic(word)
    tool.ask("create", topic=topic, partitions=partitions)
    return topic


def _sizes(owned):
    return sorted(len(partitions) for partitions in owned.values())


def _shares(cell, broker, tool):
    topic = _create(cell, tool, "shared")
    group = Group(cell, cell.client(broker), "uniform", {topic: PARTITIONS}, assignor="uniform")
    with cell.check("uniform: one, two, three members share"):
        for number in range(3):
            group.join(number)
            expect(_sizes(group.settled()), [PARTITIONS // (number + 1)] * (number + 1), "partitions of each member")
    with cell.check("uniform: who stays keeps what it has"):
        before = group.owned()
        group.leave(next(iter(before)))
        after = group.settled()
        expect(_sizes(after), [PARTITIONS // 2] * 2, "partitions of each member")
        for member, partitions in after.items():
            require(before[member] <= partitions, f"{member} had to give up {sorted(before[member] - partitions)}")
    with cell.check("uniform: partitions that are added are assigned"):
        tool.ask("grow", topic=topic, partitions=2 * PARTITIONS)
        group.topics = {topic: 2 * PARTITIONS}
        expect(_sizes(group.settled()), [PARTITIONS] * 2, "partitions of each member")
    with cell.check("uniform: no partition has two owners"):
        group.end()
        expect_one_owner(group.histories)


def _ranges(cell, broker, tool):
    topics = {_create(cell, tool, word): PARTITIONS for word in ("left", "right")}
    group = Group(cell, cell.client(broker), "range", topics, assignor="range")
    with cell.check("range: partitions of one number come to one member"):
        for number in range(3):
            group.join(number)
        for member, partitions in group.settled().items():
            numbers = [sorted(number for name, number in partitions if name == topic) for topic in topics]
            first = numbers[0][0]
            expect(numbers, [list(range(first, first + PARTITIONS // 3))] * 2, f"partitions of {member}")
    group.end()


def _plugin(cell, broker, tool):
    name = "plugin: sticky by group.remote.assignor"
    if not cell.on_klamm or cell.client_name == "franz-go":
        return cell.skip(name, "franz-go names only Kafka's assignors" if cell.on_klamm else "not plain Kafka")
    topic = _create(cell, tool, "assigned")
    group = Group(cell, cell.client(broker), "plugin", {topic: PARTITIONS}, assignor="sticky")
    with cell.check(name):
        for number in range(3):
            group.join(number)
        expect(_sizes(group.settled()), [PARTITIONS // 3] * 3, "partitions of each member")
    group.end()


def _static(cell, broker, tool):
    if cell.client_name == "franz-go":
        return cell.skip("static: who comes back has what it had", "leaves without naming its instance, which is refused")
    topic = _create(cell, tool, "fixed")
    group = Group(cell, cell.client(broker), "static", {topic: PARTITIONS})
    with cell.check("static: who comes back has what it had"):
        members = [group.join(number, instance=f"instance-{number}") for number in range(3)]
        before = group.settled()
        group.leave(members[1])
        group.join("again", instance="instance-1")
        after = group.settled()
        expect(after[f"{group.name}.again"], before[members[1]], "partitions of who came back")
        expect(after[members[0]], before[members[0]], "partitions of another")
    group.end()


def _matches(cell, broker, tool):
    first = _create(cell, tool, "matched-1")
    _create(cell, tool, "unmatched")
    pattern = f"^{first[:-1]}.*".replace(".", r"\.").replace(r"\.*", ".*")
    group = Group(cell, cell.client(broker), "regex", {first: PARTITIONS}, regex=pattern)
    with cell.check("regex: topics that match are read"):
        for number in range(2):
            group.join(number)
        expect(_sizes(group.settled()), [PARTITIONS // 2] * 2, "partitions of each member")
    with cell.check("regex: a topic that is made later too"):
        second = _create(cell, tool, "matched-2", 2)
        group.topics = {first: PARTITIONS, second: 2}
        expect(_sizes(group.settled()), [PARTITIONS // 2 + 1] * 2, "partitions of each member")
    group.end()


def _resumes(cell, broker, tool):
    if cell.client_name == "franz-go":
        return cell.skip("commit and resume", "franz-go is asked to commit by the classic protocol only")
    topic, group = _create(cell, tool, "resumed", 1), cell.topic("resumes")
    wanted = [Record(value=b"%d" % index, partition=0) for index in range(COUNT)]
    tool.ask("produce", topic=topic, file=records.write(cell.file("sent"), wanted))
    one, other = cell.client(broker), cell.client(broker)
    for (name, numbers), client in zip(TURNS.items(), (one, one, other)):
        with cell.check(f"commit and resume: {name}"):
            client.ask("consume", topic=topic, file=cell.file("got"), count=len(numbers), group=group, protocol="consumer")
            expect([record.value for record in records.read(cell.file("got"))], [b"%d" % number for number in numbers], "values")
            expect(tool.ask("committed", topic=topic, group=group), {"0": numbers.stop}, "committed offset")


def _killed(cell, broker, tool):
    topic = _create(cell, tool, "orphaned")
    group = Group(cell, cell.client(broker), "killed", {topic: PARTITIONS})
    victims = cell.client(broker)
    with cell.check("killed: others take over after the session timeout"):
        group.join(0)
        victim = group.join(1, victims)
        expect(_sizes(group.settled()), [PARTITIONS // 2] * 2, "partitions of each member")
        killed_at = time.monotonic()
        victims.close()
        group.forget(victim)
        expect(_sizes(group.settled()), [PARTITIONS], "partitions of who is left")
        waited = time.monotonic() - killed_at
        require(waited > SESSION_SECONDS / 2, f"taken over after {waited:.1f} s, before the session can have timed out")
    group.end()


def _all_records(cell, broker, tool):
    """Members come and go between waves of records."""
    topic = _create(cell, tool, "flowing")
    group = Group(cell, cell.client(broker), "flow", {topic: PARTITIONS})
    sent = set()
    with cell.check("all records are read while members come and go"):
        members = []
        for wave in range(WAVES):
            members.append(group.join(wave))
            if wave % 3 == 2:
                group.leave(members.pop(0))
            wanted = [Record(value=b"%d" % index, partition=index % PARTITIONS) for index in range(WAVE_RECORDS)]
            told = tool.ask("produce", topic=topic, file=records.write(cell.file("wave"), wanted))
            sent |= {(topic, partition, offset) for partition, offset in told["acked"]}
        group.settled()
        cell.eventually(lambda: _expect_all(tool, group, topic, sent))
        group.end()
        missing = sent - set(group.read)
        require(not missing, f"{len(missing)} of {len(sent)} were not read: {sorted(missing)[:5]}")


def _expect_all(tool, group, topic, sent):
    """Committed up to the end: members commit every few seconds."""
    committed = tool.ask("committed", topic=topic, group=group.name)
    expect(sum(committed.values()), len(sent), "committed offsets together")
