"""Groups are listed, described and deleted by each client's admin; one with members is not deleted."""

from .. import records
from ..client import NAMES
from ..failure import expect, refused, require
from ..records import Record
from .group import PROTOCOLS

CLIENTS = NAMES
CANNOT = {"kcat": "has no admin"}
PLAIN_KAFKA = True
COUNT = 10


def run(cell):
    topic, group, member = cell.topic(), cell.topic("group"), cell.topic("member")
    cell.tool.ask("create", topic=topic, partitions=1)
    cell.tool.ask("produce", topic=topic, file=records.write(cell.file("sent"), [Record(value=b"value")] * COUNT))
    client = cell.client()
    client.ask("consume", topic=topic, file=cell.file("got"), count=COUNT, group=group)
    client.ask("join", member=member, group=group, topics=[topic], assignor=PROTOCOLS[cell.client_name][0])
    cell.eventually(lambda: require(client.ask("assignment", member=member)["owned"], "the member owns nothing"))
    with cell.check("list"):
        require(group in client.ask("groups"), "the group is not listed")
    with cell.check("describe"):
        _expect_described(client, group, "stable", [member])
    with cell.check("a group with members is not deleted"):
        refused(client, "empty", "delete_group", group=group)
    client.ask("leave", member=member)
    with cell.check("describe without members"):
        cell.eventually(lambda: _expect_described(client, group, "empty", []))
    with cell.check("delete"):
        client.ask("delete_group", group=group)
        require(group not in client.ask("groups"), "the group is still listed")
        expect(cell.tool.ask("committed", topic=topic, group=group), {}, "committed offsets of a deleted group")
    with cell.check("a group that is none"):
        refused(client, "group", "delete_group", group=cell.topic("nobody"))


def _expect_described(client, group, state, members):
    found = client.ask("describe_group", group=group)
    expect(found["state"].lower(), state, "state")
    expect(sorted(found["members"]), members, "client ids of the members")
