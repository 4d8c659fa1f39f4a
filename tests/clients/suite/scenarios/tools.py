"""Kafka's own command-line tools, called by class name: each says what it should, and what it should have done is so (issue 3,
check 2). A check is named `TOOL: what`; the table of tools in docs/compatibility.md is made of these names."""

import json
import re
import subprocess
import time
import urllib.request
from collections import Counter

from ..failure import Skip, expect, require
from ..paths import JVM

CLIENTS = ["java"]
PLAIN_KAFKA = True
CLASSES = {
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-groups": "org.apache.kafka.tools.GroupsCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-consumer-perf-test": "org.apache.kafka.tools.ConsumerPerformance",
    "kafka-verifiable-producer": "org.apache.kafka.tools.VerifiableProducer",
    "kafka-verifiable-consumer": "org.apache.kafka.tools.VerifiableConsumer",
    "kafka-dump-log": "kafka.tools.DumpLogSegments",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-client-metrics": "org.apache.kafka.tools.ClientMetricsCommand",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
}
# They do their last things at the end of their process.
HOOKED = ["kafka-verifiable-producer", "kafka-verifiable-consumer"]
UNSERVED = re.compile(r"The node does not support (\w+)")
PROCESS_SECONDS = 120
NODE = "1"
PERF_RECORDS = 3000
VERIFIED = 200
# Bytes a second, which are one record; the windows in which they are counted are few, so that a quota is met soon.
QUOTA = 100_000
QUOTA_SECONDS = 8
WINDOWS = {"quota.window.num": "2"}
RETENTION = "retention.ms=3600000"


def run(cell):
    broker = cell.own_broker({"node.id": NODE} | WINDOWS)
    tools = Tools(cell, broker)
    for scene in (_topics, _configs, _records, _groups, _consumer_groups, _offsets, _load, _quotas, _cluster, _files):
        scene(cell, tools)
    _moves(cell)


class Tools:
    """Runs one tool after another in one process of the Java client."""

    def __init__(self, cell, broker):
        self.broker = broker
        self.bootstrap = ["--bootstrap-server", broker.bootstrap]
        self._client = cell.client(broker)

    def run(self, tool, *arguments, text="", status=0, bootstrap=True):
        """What the tool printed, when it ended with `status`."""
        given = [*(self.bootstrap if bootstrap else []), *arguments]
        ended, told = self._in_process(tool, given) if tool in HOOKED else self._in_client(tool, given, text)
        unserved = UNSERVED.search(told)
        if unserved and self.broker.kind == "klamm":
            raise Skip(f"{unserved[1]} is not served")
        require((ended == 0) == (status == 0), f"{tool} {' '.join(arguments)} ended with {ended}: {told}")
        return told

    def _in_client(self, tool, arguments, text):
        done = self._client.ask("tool", **{"class": CLASSES[tool]}, arguments=arguments, input=text)
        return done["status"], done["out"] + done["err"]

    def _in_process(self, tool, arguments):
        done = subprocess.run([*JVM, CLASSES[tool], *arguments], capture_output=True, text=True, timeout=PROCESS_SECONDS)
        return done.returncode, done.stdout + done.stderr

    def offsets(self, topic, *options):
        """What kafka-get-offsets tells, by partition."""
        told = self.run("kafka-get-offsets", "--topic", topic, *options)
        return {int(partition): int(offset) for partition, offset in re.findall(rf"^{re.escape(topic)}:(\d+):(-?\d+)$", told, re.M)}

    def produce(self, topic, count, size, client_id, a_second=-1):
        """As fast as it goes, or so many a second, by kafka-producer-perf-test."""
        properties = [f"bootstrap.servers={self.broker.bootstrap}", f"client.id={client_id}", f"batch.size={size + 1000}"]
        told = self.run("kafka-producer-perf-test", "--topic", topic, "--num-records", str(count), "--record-size", str(size),
                        "--throughput", str(a_second), "--producer-props", *properties, bootstrap=False)
        require(f"{count} records sent" in told, told)

    def consume(self, topic, count, *options):
        """From the beginning, by kafka-consumer-perf-test."""
        told = self.run("kafka-consumer-perf-test", "--topic", topic, "--messages", str(count), "--timeout", "30000", *options)
        row = next(line for line in told.splitlines() if re.match(r"\d{4}-\d\d-\d\d", line)).split(", ")
        expect(row[4], str(count), "records")


def _expect_group_version(tools, level):
    told = tools.run("kafka-features", "describe")
    version = rf"^Feature: group.version\s.*SupportedMaxVersion: 1\s+FinalizedVersionLevel: {level}\s"
    require(re.search(version, told, re.M), told)


def _topics(cell, tools):
    topic = cell.topic("topics")
    named = ["--topic", topic]
    with cell.check("kafka-topics: create and describe"):
        told = tools.run("kafka-topics", "--create", *named, "--partitions", "3", "--replication-factor", "1", "--config", RETENTION)
        require(f"Created topic {topic}." in told, told)
        cell.eventually(lambda: _expect_described(tools, topic, 3, RETENTION))
    with cell.check("kafka-topics: create what is there"):
        require("already exists" in tools.run("kafka-topics", "--create", *named, status=1), "refused for another reason")
        tools.run("kafka-topics", "--create", "--if-not-exists", *named)
    with cell.check("kafka-topics: list"):
        require(topic in tools.run("kafka-topics", "--list").splitlines(), "not listed")
    with cell.check("kafka-topics: alter"):
        tools.run("kafka-topics", "--alter", *named, "--partitions", "5")
        cell.eventually(lambda: _expect_described(tools, topic, 5, RETENTION))
    with cell.check("kafka-topics: which are under-replicated"):
        told = tools.run("kafka-topics", "--describe", "--under-replicated-partitions")
        require("Topic:" not in told, f"under-replicated: {told}")
    with cell.check("kafka-topics: delete"):
        tools.run("kafka-topics", "--delete", *named)
        cell.eventually(lambda: require(topic not in tools.run("kafka-topics", "--list").splitlines(), "still listed"))
    with cell.check("kafka-topics: describe what is gone"):
        require("does not exist" in tools.run("kafka-topics", "--describe", *named, status=1), "refused for another reason")


def _expect_described(tools, topic, partitions, config):
    told = tools.run("kafka-topics", "--describe", "--topic", topic)
    require(f"PartitionCount: {partitions}\t" in told and config in told, told)
    found = re.findall(rf"Topic: {re.escape(topic)}\tPartition: (\d+)\tLeader: {NODE}\tReplicas: {NODE}\tIsr: {NODE}", told)
    expect(found, [str(partition) for partition in range(partitions)], "partitions with their leader")


def _configs(cell, tools):
    topic = cell.topic("configs")
    tools.run("kafka-topics", "--create", "--topic", topic, "--partitions", "1")
    of_topic = ["--entity-type", "topics", "--entity-name", topic]
    of_brokers = ["--entity-type", "brokers", "--entity-default"]
    of_client = ["--entity-type", "clients", "--entity-name", "some-client"]
    of_address, of_users = ["--entity-type", "ips", "--entity-name", "127.0.0.9"], ["--entity-type", "users", "--entity-default"]
    with cell.check("kafka-configs: alter a topic"):
        tools.run("kafka-configs", "--alter", *of_topic, "--add-config", "max.message.bytes=12345,cleanup.policy=[compact,delete]")
        cell.eventually(lambda: _expect_told(tools, of_topic, ["max.message.bytes=12345", "cleanup.policy=compact,delete"]))
    with cell.check("kafka-configs: delete from a topic"):
        tools.run("kafka-configs", "--alter", *of_topic, "--delete-config", "max.message.bytes")
        cell.eventually(lambda: _expect_told(tools, of_topic, ["cleanup.policy=compact,delete"], ["max.message.bytes"]))
    with cell.check("kafka-configs: what is no setting"):
        told = tools.run("kafka-configs", "--alter", *of_topic, "--add-config", "no.such.setting=1", status=1)
        require("no.such.setting" in told, f"refused for another reason: {told}")
    with cell.check("kafka-configs: describe all of a topic and of a broker"):
        _expect_told(tools, [*of_topic, "--all"], ["retention.ms=604800000", "segment.bytes=1073741824"])
        _expect_told(tools, ["--entity-type", "brokers", "--entity-name", NODE, "--all"], [f"node.id={NODE}", "num.partitions=1"])
    with cell.check("kafka-configs: alter brokers"):
        tools.run("kafka-configs", "--alter", *of_brokers, "--add-config", "message.max.bytes=2000000")
        cell.eventually(lambda: _expect_told(tools, of_brokers, ["message.max.bytes=2000000"]))
        tools.run("kafka-configs", "--alter", *of_brokers, "--delete-config", "message.max.bytes")
        cell.eventually(lambda: _expect_told(tools, of_brokers, [], ["message.max.bytes"]))
    with cell.check("kafka-configs: limits of connections and threads of a broker"):
        limits = ["max.connections=9000", "max.connections.per.ip=8000", "max.connection.creation.rate=7000", "log.cleaner.threads=2"]
        tools.run("kafka-configs", "--alter", *of_brokers, "--add-config", ",".join(limits))
        cell.eventually(lambda: _expect_told(tools, of_brokers, limits))
        tools.run("kafka-configs", "--alter", *of_brokers, "--delete-config", ",".join(limit.split("=")[0] for limit in limits))
        cell.eventually(lambda: _expect_told(tools, of_brokers, [], limits))
    with cell.check("kafka-configs: quotas of a client"):
        tools.run("kafka-configs", "--alter", *of_client, "--add-config", "producer_byte_rate=1048576")
        cell.eventually(lambda: _expect_told(tools, of_client, ["producer_byte_rate=1048576"]))
        tools.run("kafka-configs", "--alter", *of_client, "--delete-config", "producer_byte_rate")
        cell.eventually(lambda: _expect_told(tools, of_client, [], ["producer_byte_rate"]))
    with cell.check("kafka-configs: quotas on request time and on connections"):
        for entity, quota in ((of_client, "request_percentage=150.5"), (of_address, "connection_creation_rate=50")):
            tools.run("kafka-configs", "--alter", *entity, "--add-config", quota)
            cell.eventually(lambda: _expect_told(tools, entity, [quota]))
            tools.run("kafka-configs", "--alter", *entity, "--delete-config", quota.split("=")[0])
            cell.eventually(lambda: _expect_told(tools, entity, [], [quota]))
        tools.run("kafka-configs", "--alter", *of_users, "--add-config", "request_percentage=900")
        tools.run("kafka-configs", "--alter", *of_users, "--delete-config", "request_percentage")


def _expect_told(tools, entity, there, gone=()):
    told = tools.run("kafka-configs", "--describe", *entity)
    for text in there:
        require(text in told, f"{text} is not in {told}")
    for text in gone:
        require(text not in told, f"{text} is in {told}")


def _records(cell, tools):
    topic, group = _console(cell)
    tools.run("kafka-topics", "--create", "--topic", topic, "--partitions", "1")
    lines = [f"key{number}:value {number}" for number in range(10)]
    with cell.check("kafka-console-producer: lines with keys"):
        tools.run("kafka-console-producer", "--topic", topic, "--property", "parse.key=true", "--property", "key.separator=:",
                  text="".join(f"{line}\n" for line in lines))
        expect(tools.offsets(topic), {0: 10}, "end of the log")
    with cell.check("kafka-console-consumer: from the beginning"):
        told = tools.run("kafka-console-consumer", "--topic", topic, "--from-beginning", "--max-messages", "10", "--property",
                         "print.key=true", "--property", "key.separator=:", "--property", "print.offset=true")
        expect(re.findall(r"^Offset:(\d+):(.*)$", told, re.M), [(str(n), line) for n, line in enumerate(lines)], "lines")
    with cell.check("kafka-console-consumer: from an offset of a partition"):
        told = tools.run("kafka-console-consumer", "--topic", topic, "--partition", "0", "--offset", "7", "--max-messages", "3")
        expect(re.findall(r"^value \d$", told, re.M), ["value 7", "value 8", "value 9"], "lines")
    with cell.check("kafka-console-consumer: as a group"):
        told = tools.run("kafka-console-consumer", "--topic", topic, "--group", group, "--from-beginning", "--max-messages", "4")
        expect(re.findall(r"^value \d$", told, re.M), [f"value {number}" for number in range(4)], "lines")


def _console(cell):
    """The topic and the group that several scenes use."""
    return cell.topic("console"), cell.topic("group")


def _groups(cell, tools):
    topic, group = _console(cell)
    named = ["--group", group]
    with cell.check("kafka-consumer-groups: list and describe"):
        require(group in tools.run("kafka-consumer-groups", "--list").splitlines(), "not listed")
        _expect_position(tools, group, topic, 4, 10)
        require(" Empty " in tools.run("kafka-consumer-groups", "--describe", "--state", *named), "not empty")
    with cell.check("kafka-groups: list"):
        require(re.search(rf"^{re.escape(group)} +Classic +consumer", tools.run("kafka-groups", "--list"), re.M), "not listed")
    resets = {"to the earliest": (["--to-earliest"], 0), "to an offset": (["--to-offset", "6"], 6), "by a shift": (["--shift-by", "-2"], 4),
              "to the latest": (["--to-latest"], 10), "to a time": (["--to-datetime", "2020-01-01T00:00:00.000"], 0)}
    for what, (how, position) in resets.items():
        with cell.check(f"kafka-consumer-groups: reset offsets {what}"):
            reset = ["--reset-offsets", *named, "--topic", topic, *how]
            before = _position(tools, group, topic)
            require(re.search(rf"{re.escape(topic)} +0 +{position}\b", tools.run("kafka-consumer-groups", *reset, "--dry-run")), "dry run")
            expect(_position(tools, group, topic), before, "position after a dry run")
            tools.run("kafka-consumer-groups", *reset, "--execute")
            _expect_position(tools, group, topic, position, 10)
    with cell.check("kafka-consumer-groups: delete offsets"):
        told = tools.run("kafka-consumer-groups", "--delete-offsets", *named, "--topic", topic)
        require("Successful" in told, told)
        expect(_position(tools, group, topic), None, "position of what was deleted")
    with cell.check("kafka-consumer-groups: delete"):
        tools.run("kafka-consumer-groups", "--reset-offsets", *named, "--topic", topic, "--to-latest", "--execute")
        require("was successful" in tools.run("kafka-consumer-groups", "--delete", *named), "not deleted")
        require(group not in tools.run("kafka-consumer-groups", "--list").splitlines(), "still listed")
    with cell.check("kafka-consumer-groups: what is gone"):
        # The tool itself ends with status 0.
        require("not found" in tools.run("kafka-consumer-groups", "--describe", *named), "described")


def _consumer_groups(cell, tools):
    """Groups of the consumer protocol (KIP-848)."""
    topic, group, member = cell.topic("assigned"), cell.topic("next"), cell.topic("member")
    tools.run("kafka-topics", "--create", "--topic", topic, "--partitions", "1")
    tools.run("kafka-console-producer", "--topic", topic, text="".join(f"value {number}\n" for number in range(10)))
    named = ["--group", group]
    with cell.check("kafka-console-consumer: as a member of a consumer group"):
        told = tools.run("kafka-console-consumer", "--topic", topic, *named, "--from-beginning", "--max-messages", "4",
                         "--consumer-property", "group.protocol=consumer")
        expect(re.findall(r"^value \d$", told, re.M), [f"value {number}" for number in range(4)], "lines")
    with cell.check("kafka-consumer-groups: a consumer group without members"):
        _expect_position(tools, group, topic, 4, 10)
        require(" Empty " in tools.run("kafka-consumer-groups", "--describe", "--state", *named), "not empty")
    with cell.check("kafka-consumer-groups: list by type"):
        told = tools.run("kafka-consumer-groups", "--list", "--type", "consumer")
        require(re.search(rf"^{re.escape(group)} +Consumer", told, re.M), told)
        require(group not in tools.run("kafka-consumer-groups", "--list", "--type", "classic"), "listed as classic")
    with cell.check("kafka-groups: list consumer groups"):
        require(re.search(rf"^{re.escape(group)} +Consumer +consumer", tools.run("kafka-groups", "--list", "--consumer"), re.M), "not listed")
    client = cell.client(tools.broker)
    client.ask("join", member=member, group=group, topics=[topic], protocol="consumer", instance="fixed", assignor="range")
    cell.eventually(lambda: require(client.ask("assignment", member=member)["owned"], "the member owns nothing"))
    with cell.check("kafka-consumer-groups: state of a consumer group"):
        told = tools.run("kafka-consumer-groups", "--describe", "--state", "--verbose", *named)
        require(re.search(r" range +Stable +(\d+) +\1 +1\b", told), told)
    with cell.check("kafka-consumer-groups: members of a consumer group"):
        told = tools.run("kafka-consumer-groups", "--describe", "--members", "--verbose", *named)
        row = rf"^{re.escape(group)} +\S+ +fixed +/127.0.0.1 +{re.escape(member)} +1 +(\d+) +{re.escape(topic)}:0 +\1 +{re.escape(topic)}:0"
        require(re.search(row, told, re.M), told)
    with cell.check("kafka-consumer-groups: what has members is not deleted or reset"):
        require("not empty" in tools.run("kafka-consumer-groups", "--delete", *named).lower(), "deleted")
        # The tool itself ends with status 0.
        told = tools.run("kafka-consumer-groups", "--reset-offsets", *named, "--topic", topic, "--to-earliest", "--execute")
        require("is inactive, but the current state is Stable" in told, told)
    client.ask("leave", member=member)
    client.close()
    with cell.check("kafka-verifiable-consumer: of the consumer protocol"):
        events = _events(tools.run("kafka-verifiable-consumer", "--topic", topic, "--group-id", cell.topic("verified"),
                                   "--reset-policy", "earliest", "--max-messages", "10", "--group-protocol", "consumer"))
        expect(sum(event["count"] for event in events if event["name"] == "records_consumed"), 10, "consumed")
    other = ["--group", cell.topic("verified")]
    with cell.check("kafka-consumer-groups: reset offsets of a consumer group"):
        tools.run("kafka-consumer-groups", "--reset-offsets", *other, "--topic", topic, "--to-offset", "6", "--execute")
        _expect_position(tools, other[1], topic, 6, 10)
    with cell.check("kafka-consumer-groups: delete a consumer group"):
        require("was successful" in tools.run("kafka-consumer-groups", "--delete", *other), "not deleted")
        require(other[1] not in tools.run("kafka-consumer-groups", "--list").splitlines(), "still listed")
    of_group = ["--entity-type", "groups", "--entity-name", group]
    with cell.check("kafka-configs: alter a group"):
        tools.run("kafka-configs", "--alter", *of_group, "--add-config", "consumer.session.timeout.ms=50000")
        cell.eventually(lambda: _expect_told(tools, of_group, ["consumer.session.timeout.ms=50000"]))
        told = tools.run("kafka-configs", "--alter", *of_group, "--add-config", "consumer.session.timeout.ms=1", status=1)
        require("group.consumer.min.session.timeout.ms" in told, told)


def _position(tools, group, topic):
    """The committed offset and the end of the log."""
    told = tools.run("kafka-consumer-groups", "--describe", "--group", group)
    found = re.search(rf"^{re.escape(group)} +{re.escape(topic)} +0 +(\d+) +(\d+) +(\d+) ", told, re.M)
    return found and tuple(map(int, found.groups()))


def _expect_position(tools, group, topic, position, end):
    expect(_position(tools, group, topic), (position, end, end - position), "position, end and lag")


def _offsets(cell, tools):
    topic, _ = _console(cell)
    with cell.check("kafka-get-offsets: latest, earliest, of the largest timestamp"):
        expect(tools.offsets(topic, "--time", "latest"), {0: 10}, "latest")
        expect(tools.offsets(topic, "--time", "earliest"), {0: 0}, "earliest")
        largest = tools.offsets(topic, "--time", "max-timestamp")[0]
        require(0 <= largest < 10, f"of the largest timestamp: {largest}")
    with cell.check("kafka-delete-records: up to an offset"):
        wanted = {"version": 1, "partitions": [{"topic": topic, "partition": 0, "offset": 3}]}
        with open(cell.file("delete.json"), "w") as file:
            json.dump(wanted, file)
        told = tools.run("kafka-delete-records", "--offset-json-file", cell.file("delete.json"))
        require(f"partition: {topic}-0\tlow_watermark: 3" in told, told)
        expect(tools.offsets(topic, "--time", "earliest"), {0: 3}, "earliest")
        told = tools.run("kafka-console-consumer", "--topic", topic, "--from-beginning", "--max-messages", "1")
        expect(re.findall(r"^value \d$", told, re.M), ["value 3"], "first line")
    with cell.check("kafka-log-dirs: describe"):
        told = tools.run("kafka-log-dirs", "--describe", "--topic-list", topic, "--broker-list", NODE)
        found = json.loads(next(line for line in told.splitlines() if line.startswith("{")))
        directory = found["brokers"][0]["logDirs"][0]
        expect((directory["error"], directory["logDir"]), (None, str(tools.broker.data)), "directory")
        expect([at["partition"] for at in directory["partitions"]], [f"{topic}-0"], "partitions")
        require(directory["partitions"][0]["size"] > 0, "no size")


def _load(cell, tools):
    topic, verified = cell.topic("load"), cell.topic("verified")
    for name in (topic, verified):
        tools.run("kafka-topics", "--create", "--topic", name, "--partitions", "2")
    with cell.check("kafka-producer-perf-test: counts what arrives"):
        tools.produce(topic, PERF_RECORDS, 100, "perf")
        expect(sum(tools.offsets(topic).values()), PERF_RECORDS, "records in the topic")
    with cell.check("kafka-consumer-perf-test: counts what is there"):
        tools.consume(topic, PERF_RECORDS)
    with cell.check("kafka-verifiable-producer: all acknowledged"):
        events = _events(tools.run("kafka-verifiable-producer", "--topic", verified, "--max-messages", str(VERIFIED), "--acks", "-1"))
        expect(sum(event["name"] == "producer_send_success" for event in events), VERIFIED, "acknowledged")
        expect(sum(tools.offsets(verified).values()), VERIFIED, "records in the topic")
    with cell.check("kafka-verifiable-consumer: all consumed and committed"):
        events = _events(tools.run("kafka-verifiable-consumer", "--topic", verified, "--group-id", cell.topic("verifying"),
                                   "--reset-policy", "earliest", "--max-messages", str(VERIFIED)))
        expect(sum(event["count"] for event in events if event["name"] == "records_consumed"), VERIFIED, "consumed")
        committed = {}
        for event in events:
            if event["name"] == "offsets_committed":
                require(event["success"], f"not committed: {event}")
                committed |= {at["partition"]: at["offset"] for at in event["offsets"]}
        expect(committed, {partition: end for partition, end in tools.offsets(verified).items() if end}, "committed")


def _events(told):
    return [json.loads(line) for line in told.splitlines() if line.startswith("{")]


def _cluster(cell, tools):
    with cell.check("kafka-broker-api-versions: ranges"):
        told = tools.run("kafka-broker-api-versions")
        for text in (f"id: {NODE} rack: null", "Produce(0): 0 to 13", "Fetch(1): 4 to 18", "ApiVersions(18): 0 to 4"):
            require(text in told, f"{text} is not in {told}")
    with cell.check("kafka-cluster: id and endpoints"):
        require(re.search(r"^Cluster ID: \S{22}$", tools.run("kafka-cluster", "cluster-id", *tools.bootstrap, bootstrap=False), re.M), "no id")
        port = tools.broker.bootstrap.split(":")[1]
        told = tools.run("kafka-cluster", "list-endpoints", *tools.bootstrap, bootstrap=False)
        require(re.search(rf"^{NODE} +127.0.0.1 +{port} ", told, re.M), told)
    with cell.check("kafka-features: describe"):
        _expect_group_version(tools, 1)
        require("Feature: metadata.version" in tools.run("kafka-features", "describe"), "no version of metadata")
    with cell.check("kafka-features: downgrade and upgrade"):
        told = tools.run("kafka-features", "downgrade", "--feature", "group.version=0")
        require("group.version was downgraded to 0." in told, told)
        cell.eventually(lambda: _expect_group_version(tools, 0))
        told = tools.run("kafka-features", "upgrade", "--feature", "group.version=1")
        require("group.version was upgraded to 1." in told, told)
        cell.eventually(lambda: _expect_group_version(tools, 1))
    with cell.check("kafka-features: what is refused"):
        told = tools.run("kafka-features", "upgrade", "--feature", "group.version=5", status=1)
        require("Local controller 1 only supports versions 0-1" in told, told)
        told = tools.run("kafka-features", "upgrade", "--feature", "no.such=1", status=1)
        require("Local controller 1 does not support this feature." in told, told)
    with cell.check("kafka-metadata-quorum: describe"):
        status = tools.run("kafka-metadata-quorum", "describe", "--status")
        require(re.search(rf"^LeaderId: +{NODE}$", status, re.M) and re.search(r"^HighWatermark: +\d+$", status, re.M), status)
        replicas = tools.run("kafka-metadata-quorum", "describe", "--replication")
        require(re.search(rf"^{NODE} .*Leader", replicas, re.M), replicas)
    with cell.check("kafka-client-metrics: alter, list, describe, delete"):
        named = ["--name", "some-metrics"]
        tools.run("kafka-client-metrics", "--alter", *named, "--metrics", "org.apache.kafka.producer.", "--interval", "10000")
        cell.eventually(lambda: require("some-metrics" in tools.run("kafka-client-metrics", "--list"), "not listed"))
        told = tools.run("kafka-client-metrics", "--describe", *named)
        require("interval.ms=10000" in told and "metrics=org.apache.kafka.producer." in told, told)
        tools.run("kafka-client-metrics", "--delete", *named)
        cell.eventually(lambda: require("some-metrics" not in tools.run("kafka-client-metrics", "--list"), "still listed"))
    with cell.check("kafka-client-metrics: a producer pushes what is subscribed"):
        _expect_pushed(cell, tools)
    with cell.check("kafka-leader-election: not needed"):
        tools.run("kafka-leader-election", "--election-type", "preferred", "--all-topic-partitions")
    with cell.check("kafka-reassign-partitions: list"):
        require("No partition reassignments found." in tools.run("kafka-reassign-partitions", "--list"), "a reassignment")


def _moves(cell):
    """A replica to the other of two log directories (KIP-113), of a broker that has them."""
    dirs = [cell.file(name) for name in ("one", "two")]
    tools = Tools(cell, cell.own_broker({"node.id": NODE, "log.dirs": ",".join(dirs)}))
    topic = cell.topic("moved")
    tools.run("kafka-topics", "--create", "--topic", topic, "--partitions", "1")
    tools.produce(topic, PERF_RECORDS, 100, "moved")
    with cell.check("kafka-reassign-partitions: to another log directory"):
        target = next(at for at in dirs if at not in _places(tools, topic))
        moved = {"topic": topic, "partition": 0, "replicas": [int(NODE)], "log_dirs": [target]}
        with open(cell.file("move.json"), "w") as file:
            json.dump({"version": 1, "partitions": [moved]}, file)
        wanted = ["--reassignment-json-file", cell.file("move.json")]
        tools.run("kafka-reassign-partitions", "--execute", *wanted, "--replica-alter-log-dirs-throttle", "100000000")
        done = f"Reassignment of replica {topic}-0-{NODE} completed successfully."
        cell.eventually(lambda: require(done in tools.run("kafka-reassign-partitions", "--verify", *wanted), "it does not end"))
        expect(_places(tools, topic), [target], "where it lies")
        tools.consume(topic, PERF_RECORDS)


def _places(tools, topic):
    """The log directories that kafka-log-dirs finds a topic in."""
    told = tools.run("kafka-log-dirs", "--describe", "--topic-list", topic, "--broker-list", NODE)
    found = json.loads(next(line for line in told.splitlines() if line.startswith("{")))
    return [at["logDir"] for at in found["brokers"][0]["logDirs"] if at["partitions"]]


def _expect_pushed(cell, tools):
    """A producer pushes by default, as any Java client, while it has room for a request beside its own."""
    if not cell.on_klamm:
        raise Skip("what is pushed to Kafka is a plugin's")
    topic, subscribed, client_id = cell.topic("pushed"), "org.apache.kafka.producer.record.", "pushing-producer"
    tools.run("kafka-topics", "--create", "--topic", topic, "--partitions", "1")
    tools.run("kafka-client-metrics", "--alter", "--name", "pushed-metrics", "--metrics", subscribed, "--interval", "100",
              "--match", f"client_id={client_id}")
    cell.eventually(lambda: require("pushed-metrics" in tools.run("kafka-client-metrics", "--list"), "not listed"))
    for name in (f"no-{client_id}", client_id):
        tools.produce(topic, PERF_RECORDS, 100, name, a_second=PERF_RECORDS // 3)
    pushed = _pushed(tools)
    sent = pushed[client_id, f"{subscribed}send.total"]
    # What was sent after its last push it keeps to itself, if it is closed too soon for another.
    require(0 < sent <= PERF_RECORDS, f"{sent} of {PERF_RECORDS} records sent, as the client has it, of {pushed}")
    for name, metric in pushed:
        require(name == client_id and metric.startswith(subscribed), f"{name} pushed {metric}, to which nobody has subscribed")


def _pushed(tools):
    """The sum of what clients pushed, by client id and metric, as `/metrics` tells it."""
    with urllib.request.urlopen(f"http://{tools.broker.http}/metrics", timeout=30) as answer:
        told = answer.read().decode()
    sums = Counter()
    for labels, value in re.findall(r"^klamm_client_metric\{(.*)\} (\S+)$", told, re.M):
        named = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        sums[named["client_id"], named["metric"]] += float(value)
    return sums


def _quotas(cell, tools):
    topic, held = cell.topic("held"), "held-client"
    tools.run("kafka-topics", "--create", "--topic", topic, "--partitions", "1")
    of_held = ["--entity-type", "clients", "--entity-name", held]
    rates = [f"{side}_byte_rate={QUOTA}" for side in ("producer", "consumer")]
    tools.run("kafka-configs", "--alter", *of_held, "--add-config", ",".join(rates))
    cell.eventually(lambda: _expect_told(tools, of_held, rates))
    with cell.check("kafka-producer-perf-test: held to a quota"):
        _expect_held(lambda: tools.produce(topic, QUOTA_SECONDS, QUOTA, held))
    with cell.check("kafka-consumer-perf-test: held to a quota"):
        with open(cell.file("held.properties"), "w") as file:
            file.write(f"client.id={held}\n")
        small = ["--consumer.config", cell.file("held.properties"), "--fetch-size", str(QUOTA)]
        _expect_held(lambda: tools.consume(topic, QUOTA_SECONDS, *small))
    with cell.check("kafka-producer-perf-test: another client is held to none"):
        seconds = _timed(lambda: tools.produce(topic, QUOTA_SECONDS, QUOTA, f"no-{held}"))
        require(seconds < QUOTA_SECONDS / 2, f"{seconds:.1f} s for what takes a held client {QUOTA_SECONDS}")


def _expect_held(act):
    """What was counted when the quota was first met may go at once, and nobody waits for what comes behind the last request."""
    seconds = _timed(act)
    require(seconds > QUOTA_SECONDS / 2, f"{seconds:.1f} s for {QUOTA_SECONDS} seconds of the quota")
    require(seconds < QUOTA_SECONDS * 4, f"{seconds:.1f} s for {QUOTA_SECONDS} seconds of the quota")


def _timed(act):
    started = time.monotonic()
    act()
    return time.monotonic() - started


def _files(cell, tools):
    topic, _ = _console(cell)
    with cell.check("kafka-dump-log: each record"):
        files = sorted(str(path) for path in tools.broker.data.rglob(f"{topic}-0/*.log"))
        told = tools.run("kafka-dump-log", "--deep-iteration", "--print-data-log", "--files", ",".join(files), bootstrap=False)
        expect(re.findall(r"payload: (value \d)$", told, re.M), [f"value {number}" for number in range(10)], "records")
