"""confluent-kafka, which is librdkafka, as a client under test."""

import sys
import time as clock
from contextlib import contextmanager

from confluent_kafka import (OFFSET_BEGINNING, Consumer, ConsumerGroupTopicPartitions, KafkaError, KafkaException,
                             Producer, TopicPartition)
from confluent_kafka.admin import (AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic,
                                   ResourceType)
from membership import Member
from serve import serve
from suite import records

BOOTSTRAP = {"bootstrap.servers": sys.argv[1]}
SECONDS = 90
PAUSE_SECONDS = 0.5
_operator = AdminClient(BOOTSTRAP)
_producers = {}
_members = {}


def produce(topic, file, codec="none", acks=-1, idempotent=False, producer=None, pace_us=0):
    client = _producer(producer, codec, acks, idempotent)
    wanted = records.read(file)
    acked, errors = [None] * len(wanted), []
    for index, record in enumerate(wanted):
        _send(client, topic, record, _note(index, acked, errors))
        client.poll(0)
        if pace_us:
            clock.sleep(pace_us / 1e6)
    client.flush(150)
    return {"acked": acked, "errors": errors[:5]}


def _producer(name, codec, acks, idempotent):
    key = (name, codec, acks, idempotent)
    if key not in _producers:
        _producers[key] = Producer(BOOTSTRAP | {
            "compression.type": codec, "acks": acks, "enable.idempotence": idempotent, "linger.ms": 50,
            "message.max.bytes": 4_000_000, "delivery.timeout.ms": 120_000, "topic.metadata.refresh.interval.ms": 500,
            "reconnect.backoff.max.ms": 500})
    return _producers[key]


def _note(index, acked, errors):
    def delivered(error, message):
        if error:
            errors.append(str(error))
        else:
            acked[index] = [message.partition(), message.offset()]
    return delivered


def _send(client, topic, record, delivered):
    options = {}
    if record.partition is not None:
        options["partition"] = record.partition
    if record.timestamp is not None:
        options["timestamp"] = record.timestamp
    while True:
        try:
            return client.produce(topic, key=record.key, value=record.value, headers=list(record.headers) or None,
                                  on_delivery=delivered, **options)
        except BufferError:
            client.poll(0.1)


def consume(topic, file, offsets=None, time=None, group=None, count=None, protocol="classic"):
    reader = Consumer(BOOTSTRAP | {
        "group.id": group or "nobody", "group.protocol": protocol, "auto.offset.reset": "earliest", "enable.partition.eof": True,
        "enable.auto.commit": False, "fetch.wait.max.ms": 100, "max.partition.fetch.bytes": 4_000_000})
    try:
        found = _next_of_group(reader, topic, count) if group else _to_the_end(reader, topic, offsets, time)
    finally:
        reader.close()
    records.write(file, found)
    return {"count": len(found)}


def _next_of_group(reader, topic, count):
    reader.subscribe([topic])
    found = []
    deadline = clock.monotonic() + SECONDS
    while len(found) < count and clock.monotonic() < deadline:
        message = reader.poll(0.2)
        if message and not message.error():
            found.append(_record(message))
            last = message
    reader.commit(message=last, asynchronous=False)
    return found


def _to_the_end(reader, topic, offsets, time):
    wanted = _positions(reader, topic, offsets, time)
    reader.assign(wanted)
    found, open_partitions = [], {position.partition for position in wanted}
    deadline = clock.monotonic() + SECONDS
    while open_partitions:
        message = reader.poll(0.2)
        if clock.monotonic() > deadline:
            raise TimeoutError(f"no end of partitions {open_partitions}")
        if message is None:
            continue
        if not message.error():
            found.append(_record(message))
        elif message.error().code() == KafkaError._PARTITION_EOF:
            open_partitions.discard(message.partition())
        elif not message.error().retriable():
            raise KafkaException(message.error())
    return found


def seek(topic, file, first, to, count):
    """Reads `first` records of partition 0, seeks to offset `to`, and reads `count` more."""
    with _assigned(topic, [0]) as reader:
        found = _next(reader, first)
        reader.seek(TopicPartition(topic, 0, to))
        records.write(file, found + _next(reader, count))


def pause(topic, file, count):
    """Reads `count` records of each of partitions 0 and 1, of which 1 is paused until those of 0 are there and a moment has passed."""
    with _assigned(topic, [0, 1]) as reader:
        reader.pause([TopicPartition(topic, 1)])
        found = _next(reader, count) + _next(reader, 1, PAUSE_SECONDS)
        reader.resume([TopicPartition(topic, 1)])
        records.write(file, found + _next(reader, 2 * count - len(found)))


@contextmanager
def _assigned(topic, partitions):
    reader = Consumer(BOOTSTRAP | {"group.id": "nobody", "enable.auto.commit": False, "fetch.wait.max.ms": 100})
    try:
        reader.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in partitions])
        yield reader
    finally:
        reader.close()


def _next(reader, count, seconds=SECONDS):
    """At most `count` records, in at most that time."""
    found = []
    deadline = clock.monotonic() + seconds
    while len(found) < count and clock.monotonic() < deadline:
        message = reader.poll(0.1)
        if message and not message.error():
            found.append(_record(message))
    return found


def _positions(reader, topic, offsets, time):
    if offsets:
        return [TopicPartition(topic, int(partition), offset) for partition, offset in offsets.items()]
    partitions = reader.list_topics(topic, timeout=SECONDS).topics[topic].partitions
    if time is None:
        return [TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in partitions]
    return reader.offsets_for_times([TopicPartition(topic, partition, time) for partition in partitions], SECONDS)


def _record(message):
    return records.Record(message.key(), message.value(), tuple(message.headers() or ()), message.timestamp()[1],
                          message.partition(), message.offset())


def offsets(topic, time):
    """-2 is the earliest, -1 the latest."""
    reader = Consumer(BOOTSTRAP | {"group.id": "nobody"})
    try:
        partitions = reader.list_topics(topic, timeout=SECONDS).topics[topic].partitions
        if time < 0:
            ends = {partition: reader.get_watermark_offsets(TopicPartition(topic, partition), SECONDS)
                    for partition in partitions}
            return {partition: ends[partition][0 if time == -2 else 1] for partition in ends}
        found = reader.offsets_for_times([TopicPartition(topic, partition, time) for partition in partitions], SECONDS)
        return {position.partition: position.offset for position in found}
    finally:
        reader.close()


def committed(topic, group):
    asked = _operator.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
    found = asked[group].result(SECONDS).topic_partitions
    return {position.partition: position.offset for position in found if position.topic == topic}


def groups():
    return sorted(group.group_id for group in _operator.list_consumer_groups().result(SECONDS).valid)


def describe_group(group):
    found = _operator.describe_consumer_groups([group])[group].result(SECONDS)
    return {"state": found.state.name, "members": [member.client_id for member in found.members]}


def delete_group(group):
    _admin("delete_consumer_groups", [group])


def delete_records(topic, offsets):
    _admin("delete_records", [TopicPartition(topic, int(partition), offset) for partition, offset in offsets.items()])


def join(member, group, topics=None, assignor=None, protocol="classic", instance=None, regex=None):
    settings = _next_generation(assignor, instance) if protocol == "consumer" else _classic(assignor)
    reader = Consumer(BOOTSTRAP | settings | {
        "group.id": group, "client.id": member, "auto.offset.reset": "earliest", "topic.metadata.refresh.interval.ms": 1000})
    joined = Member(lambda: _note_read(joined, reader.poll(0.1)), reader.close)
    _members[member] = joined
    # A name that begins with ^ is a regular expression.
    reader.subscribe([regex] if regex else topics, on_assign=lambda _, given: joined.assigned(_names(given)),
                     on_revoke=lambda _, taken: joined.revoked(_names(taken)),
                     on_lost=lambda _, taken: joined.revoked(_names(taken)))
    joined.start()
    return {}


def _classic(assignor):
    return {"partition.assignment.strategy": assignor, "session.timeout.ms": 10_000, "heartbeat.interval.ms": 300,
            "enable.auto.commit": False}


def _next_generation(assignor, instance):
    """Members of the consumer protocol commit what they have read when they give it up."""
    given = {"group.remote.assignor": assignor, "group.instance.id": instance}
    return {"group.protocol": "consumer", "enable.auto.commit": True} | {key: value for key, value in given.items() if value}


def _note_read(member, message):
    if message and not message.error():
        member.read.append([message.topic(), message.partition(), message.offset()])


def _names(partitions):
    return {(partition.topic, partition.partition) for partition in partitions}


def assignment(member):
    return _members[member].state()


def leave(member):
    return _members.pop(member).leave()


def create(topic, partitions, configs=None):
    _admin("create_topics", [NewTopic(topic, partitions, 1, config=configs or {})])


def grow(topic, partitions):
    _admin("create_partitions", [NewPartitions(topic, partitions)])


def delete(topic):
    _admin("delete_topics", [topic])


def alter(topic, configs):
    entries = [ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in configs.items()]
    _admin("incremental_alter_configs", [ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)])


def describe(topic):
    resource = ConfigResource(ResourceType.TOPIC, topic)
    entries = _operator.describe_configs([resource])[resource].result(SECONDS)
    partitions = _operator.list_topics(topic, timeout=SECONDS).topics[topic].partitions
    return {"partitions": len(partitions), "configs": {name: entry.value for name, entry in entries.items()}}


def topics():
    return sorted(_operator.list_topics(timeout=SECONDS).topics)


def _admin(call, arguments):
    for future in getattr(_operator, call)(arguments).values():
        future.result(SECONDS)


serve([produce, consume, seek, pause, offsets, committed, groups, describe_group, delete_group, delete_records, join, assignment,
       leave, create, grow, delete, alter, describe, topics])
