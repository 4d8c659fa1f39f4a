"""Groups that are no consumers' groups keep their leader's assignment, whatever `klamm.assignor` says: Kafka Connect's, Kafka
Streams', and those whose subscription cannot be read (issue 2, check 5)."""

from ..failure import expect

CLIENTS = ["java"]
PLAIN_KAFKA = True
PARTITIONS = 12


def run(cell):
    topic = cell.topic()
    cell.tool.ask("create", topic=topic, partitions=PARTITIONS)
    cases = {
        "connect": {"type": "connect", "protocol": "compatible"},
        "stream": {"type": "consumer", "protocol": "stream", "topic": topic},
        "unreadable": {"type": "consumer", "protocol": "range"},
    }
    for name, case in cases.items():
        with cell.check(name):
            group = cell.topic(name)
            if cell.on_klamm:
                cell.tool.ask("alter_group", group=group, configs={"klamm.assignor": "sticky"})
            answer = cell.tool.ask("raw_group", group=group, **case)
            expect(answer["delivered"], answer["wanted"], "assignments")
