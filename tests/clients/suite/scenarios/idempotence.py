"""An idempotent producer through a proxy that swallows answers: it sends again what was stored, and every record is there once and
in order."""

from .. import records
from ..client import NAMES
from ..failure import expect, expect_values, require
from ..proxy import SWALLOW
from ..records import Record

CLIENTS = NAMES
CANNOT = {"kafka-go": "has no idempotent producer"}
PLAIN_KAFKA = True
TURNS, TURN = 8, 20
REQUESTS_BETWEEN_MAX = 3


def run(cell):
    broker, proxy = cell.proxied_broker(cell.options.seed, kinds=[SWALLOW], between_max=REQUESTS_BETWEEN_MAX)
    topic = cell.topic()
    cell.client(broker, name="java", bootstrap=proxy.address).ask("create", topic=topic, partitions=1)
    client = cell.client(bootstrap=proxy.address)
    with cell.check("answers are swallowed"):
        proxy.hostile = True
        for turn in range(TURNS):
            sent = [Record(b"key", b"%d" % number) for number in range(turn * TURN, (turn + 1) * TURN)]
            answer = client.ask("produce", topic=topic, file=records.write(cell.file("sent"), sent), idempotent=True, producer="one")
            expect(answer["errors"], [], "errors of the producer")
        proxy.hostile = False
        require(proxy.incidents[SWALLOW], f"seed {cell.options.seed} gave no incident")
    with cell.check("every record once, in order"):
        client.ask("consume", topic=topic, file=cell.file("got"), count=TURNS * TURN)
        found = records.read(cell.file("got"))
        expect_values([record.value for record in found], [b"%d" % number for number in range(TURNS * TURN)], "value")
