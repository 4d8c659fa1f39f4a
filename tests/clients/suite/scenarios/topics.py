"""Topics are made, described, altered, grown and deleted by each client's admin, and the Java client sees the same."""

from ..client import NAMES
from ..failure import expect, refused, require

CLIENTS = NAMES
CANNOT = {"kcat": "has no admin"}
PLAIN_KAFKA = True
CREATED = {"retention.ms": "3600000", "max.message.bytes": "500000"}
ALTERED = {"retention.ms": "7200000", "cleanup.policy": "delete"}


def run(cell):
    topic = cell.topic()
    client = cell.client()
    with cell.check("create"):
        client.ask("create", topic=topic, partitions=3, configs=CREATED)
        cell.eventually(lambda: _expect_topic(cell, client, topic, 3, CREATED))
    with cell.check("create again"):
        refused(client, "exist", "create", topic=topic, partitions=3)
    with cell.check("alter"):
        client.ask("alter", topic=topic, configs=ALTERED)
        cell.eventually(lambda: _expect_topic(cell, client, topic, 3, ALTERED))
    with cell.check("a config that is none"):
        refused(client, "config", "alter", topic=topic, configs={"no.such.config": "1"})
    with cell.check("grow"):
        client.ask("grow", topic=topic, partitions=7)
        cell.eventually(lambda: _expect_topic(cell, client, topic, 7, ALTERED))
    with cell.check("shrink"):
        refused(client, "partition", "grow", topic=topic, partitions=2)
    with cell.check("list and delete"):
        require(topic in client.ask("topics"), "the topic is not listed")
        client.ask("delete", topic=topic)
        cell.eventually(lambda: require(topic not in client.ask("topics"), "the topic is still listed"))


def _expect_topic(cell, client, topic, partitions, configs):
    for asked in (client, cell.tool):
        found = asked.ask("describe", topic=topic)
        expect(found["partitions"], partitions, f"partitions by {asked.name}")
        expect({name: found["configs"].get(name) for name in configs}, configs, f"configs by {asked.name}")
