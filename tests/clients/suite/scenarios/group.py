"""Classic groups of three: who owns what after joining and after one leaves, under each client's own assignors and, on Klamm,
under each assignor of the broker (issue 2, check 5)."""

import time
from typing import NamedTuple

from ..client import NAMES
from ..failure import expect, require

CLIENTS = NAMES
CANNOT = {"kcat": "does not tell its assignment"}
PLAIN_KAFKA = True
PROTOCOLS = {
    "confluent-kafka": ["range", "roundrobin", "cooperative-sticky"],
    "kafka-python": ["range", "roundrobin", "sticky", "cooperative-sticky"],
    "aiokafka": ["range", "roundrobin", "sticky"],
    "kafkajs": ["roundrobin"],
    "platformatic": ["roundrobin"],
    "java": ["range", "roundrobin", "sticky", "cooperative-sticky"],
    "franz-go": ["range", "roundrobin", "sticky", "cooperative-sticky"],
    "sarama": ["range", "roundrobin", "sticky"],
    "kafka-go": ["range", "roundrobin"],
}
BROKER_ASSIGNORS = ["sticky", "range", "roundrobin"]
# Their own assignors deal evenly, but not as Kafka's of the same name do, nor do they always keep what those keep.
OWN_WAY = ["kafkajs", "platformatic", "franz-go", "sarama", "kafka-go"]
COMPUTED = {"range": "range", "roundrobin": "roundrobin"}
SIZES = {"even": 12, "odd": 5}
SETTLE_SECONDS = 180
STABLE_SECONDS = 1.0


class Group(NamedTuple):
    """`rule` is the assignor that decides: the broker's, else the clients'."""

    name: str
    protocol: str
    rule: str
    topics: dict
    members: list


def run(cell):
    topics = {cell.topic(word): partitions for word, partitions in SIZES.items()}
    for topic, partitions in topics.items():
        cell.tool.ask("create", topic=topic, partitions=partitions)
    client = cell.client()
    groups = _groups(cell, topics)
    # All groups at once: a rebalance is mostly waiting.
    for group in groups:
        _join(cell, client, group)
    after_joining = _settled(client, [(group, group.members) for group in groups])
    for group in groups:
        with cell.check(f"{_title(group)}: three members"):
            _expect_rule(cell, group, _whole(after_joining, group))
    histories = {group.name: _leave(client, group, group.members[0]) for group in groups}
    after_leaving = _settled(client, [(group, group.members[1:]) for group in groups])
    for group in groups:
        with cell.check(f"{_title(group)}: one leaves"):
            _expect_rule(cell, group, _whole(after_leaving, group))
            _expect_kept(group, _whole(after_joining, group), after_leaving[group.name])
    for group in groups:
        with cell.check(f"{_title(group)}: no partition owned twice"):
            histories[group.name] |= {member: client.ask("assignment", member=member)["history"]
                                      for member in group.members[1:]}
            expect_one_owner(histories[group.name])


def _groups(cell, topics):
    rules = BROKER_ASSIGNORS if cell.on_klamm else [None]
    return [_group(cell, protocol, rule, topics) for protocol in PROTOCOLS[cell.client_name] for rule in rules]


def _group(cell, protocol, broker_assignor, topics):
    name = cell.topic(protocol, broker_assignor or "own")
    rule = broker_assignor or ("own" if cell.client_name in OWN_WAY else protocol)
    even = {topic: partitions for topic, partitions in topics.items() if topic.endswith("even")}
    members = [f"{name}.{number}" for number in range(3)]
    return Group(name, protocol, rule, topics if rule in COMPUTED else even, members)


def _join(cell, client, group):
    if cell.on_klamm:
        cell.tool.ask("alter_group", group=group.name, configs={"klamm.assignor": group.rule})
    for member in group.members:
        client.ask("join", member=member, group=group.name, topics=sorted(group.topics), assignor=group.protocol)


def _leave(client, group, member):
    return {member: client.ask("leave", member=member)["history"]}


def _settled(client, waiting):
    """What each member of each group owns, once each owns something, every partition has one owner, and nothing changes for a while;
    of a group that does not come to this, what was seen last."""
    deadline = time.monotonic() + SETTLE_SECONDS
    owned, since = {}, {}
    while waiting and time.monotonic() < deadline:
        for group, members in waiting:
            now = {member: {tuple(at) for at in client.ask("assignment", member=member)["owned"]} for member in members}
            if now != owned.get(group.name):
                owned[group.name], since[group.name] = now, time.monotonic()
        waiting = [(group, members) for group, members in waiting
                   if not _is_whole(group, owned[group.name]) or time.monotonic() - since[group.name] < STABLE_SECONDS]
        time.sleep(0.1)
    return owned


def _is_whole(group, owned):
    wanted = sorted((topic, partition) for topic, partitions in group.topics.items() for partition in range(partitions))
    return all(owned.values()) and sorted(at for partitions in owned.values() for at in partitions) == wanted


def _whole(settled, group):
    owned = settled[group.name]
    require(_is_whole(group, owned), f"not settled: {owned}")
    return owned


def _expect_rule(cell, group, owned):
    if group.rule in COMPUTED:
        expect(owned, _computed(cell, group), "assignment by Kafka's own assignor")
    else:
        sizes = sorted(len(partitions) for partitions in owned.values())
        expect(sizes, [12 // len(owned)] * len(owned), "partitions of each member")


def _computed(cell, group):
    """The answer of kafka-clients' assignor for the member ids that the coordinator gave."""
    members = cell.tool.ask("describe_group", group=group.name)["members"]
    ids = {members[name]["id"]: name for name in members}
    answer = cell.tool.ask("expected_assignment", assignor=group.rule, topics=group.topics, members=list(ids))
    return {ids[member]: {tuple(at) for at in partitions} for member, partitions in answer.items()}


def _expect_kept(group, before, after):
    if "sticky" in group.rule:
        for member, partitions in after.items():
            lost = before[member] - partitions
            require(not lost, f"{member} had to give up {sorted(lost)}")


def expect_one_owner(histories):
    """A partition is given only after its owner before has let go of it."""
    events = sorted((at, sign, topic, partition, member)
                    for member, history in histories.items() for at, sign, topic, partition in history)
    # In a same millisecond letting go counts as first.
    events.sort(key=lambda event: (event[0], event[1] == "+"))
    owner = {}
    for at, sign, topic, partition, member in events:
        if sign == "+":
            other = owner.get((topic, partition), member)
            require(other == member, f"{topic}-{partition} given to {member} while {other} has it, at {at}")
            owner[topic, partition] = member
        else:
            owner.pop((topic, partition), None)


def _title(group):
    return f"{group.protocol} by {group.rule}"
