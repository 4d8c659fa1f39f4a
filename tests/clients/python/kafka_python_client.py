"""kafka-python as a client under test."""

import sys
import time as clock
from contextlib import contextmanager

from kafka import ConsumerRebalanceListener, KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from membership import Member
from serve import serve
from suite import records

BOOTSTRAP = {"bootstrap_servers": sys.argv[1]}
SECONDS = 90
PAUSE_SECONDS = 0.5
ASSIGNORS = {"range": RangePartitionAssignor, "roundrobin": RoundRobinPartitionAssignor,
             "sticky": StickyPartitionAssignor, "cooperative-sticky": CooperativeStickyAssignor}
_producers = {}
_members = {}


def produce(topic, file, codec="none", acks=-1, idempotent=False, producer=None, pace_us=0):
    client = _producer(producer, codec, acks, idempotent)
    futures = []
    for record in records.read(file):
        futures.append(client.send(topic, value=record.value, key=record.key, headers=list(record.headers),
                                   partition=record.partition, timestamp_ms=record.timestamp))
        if pace_us:
            clock.sleep(pace_us / 1e6)
    client.flush(150)
    acked = [[future.value.partition, future.value.offset] if future.succeeded() else None for future in futures]
    return {"acked": acked, "errors": [str(future.exception) for future in futures if not future.succeeded()][:5]}


def _producer(name, codec, acks, idempotent):
    key = (name, codec, acks, idempotent)
    if key not in _producers:
        _producers[key] = KafkaProducer(
            **BOOTSTRAP, compression_type=None if codec == "none" else codec, acks="all" if acks == -1 else acks,
            enable_idempotence=idempotent, linger_ms=50, max_request_size=4_000_000, batch_size=1_000_000,
            metadata_max_age_ms=1000)
    return _producers[key]


def consume(topic, file, offsets=None, time=None, group=None, count=None):
    reader = KafkaConsumer(**BOOTSTRAP, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False,
                           max_partition_fetch_bytes=4_000_000)
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
        for batch in reader.poll(200, max_records=count - len(found)).values():
            found += batch
    reader.commit({TopicPartition(topic, message.partition): OffsetAndMetadata(message.offset + 1, "", -1)
                   for message in found})
    return [_record(message) for message in found]


def _to_the_end(reader, topic, offsets, time):
    partitions = _partitions(reader, topic)
    if offsets:
        partitions = [partition for partition in partitions if str(partition.partition) in offsets]
    reader.assign(partitions)
    ends = reader.end_offsets(partitions)
    _seek(reader, partitions, offsets, time, ends)
    found = []
    deadline = clock.monotonic() + SECONDS
    while any(reader.position(partition) < ends[partition] for partition in partitions):
        if clock.monotonic() > deadline:
            raise TimeoutError(f"positions stay before {ends}")
        for batch in reader.poll(200).values():
            found += map(_record, batch)
    return found


def seek(topic, file, first, to, count):
    """Reads `first` records of partition 0, seeks to offset `to`, and reads `count` more."""
    with _assigned(topic, [0]) as reader:
        found = _next(reader, first)
        reader.seek(TopicPartition(topic, 0), to)
        records.write(file, found + _next(reader, count))


def pause(topic, file, count):
    """Reads `count` records of each of partitions 0 and 1, of which 1 is paused until those of 0 are there and a moment has passed."""
    with _assigned(topic, [0, 1]) as reader:
        reader.pause(TopicPartition(topic, 1))
        found = _next(reader, count) + _next(reader, 1, PAUSE_SECONDS)
        reader.resume(TopicPartition(topic, 1))
        records.write(file, found + _next(reader, 2 * count - len(found)))


@contextmanager
def _assigned(topic, partitions):
    reader = KafkaConsumer(**BOOTSTRAP, enable_auto_commit=False)
    try:
        wanted = [TopicPartition(topic, partition) for partition in partitions]
        reader.assign(wanted)
        reader.seek_to_beginning(*wanted)
        yield reader
    finally:
        reader.close()


def _next(reader, count, seconds=SECONDS):
    """At most `count` records, in at most that time."""
    found = []
    deadline = clock.monotonic() + seconds
    while len(found) < count and clock.monotonic() < deadline:
        for batch in reader.poll(100, max_records=count - len(found)).values():
            found += map(_record, batch)
    return found


def _seek(reader, partitions, offsets, time, ends):
    if offsets:
        for partition in partitions:
            reader.seek(partition, offsets[str(partition.partition)])
    elif time is not None:
        for partition, found in reader.offsets_for_times({partition: time for partition in partitions}).items():
            reader.seek(partition, found.offset if found else ends[partition])
    else:
        reader.seek_to_beginning(*partitions)


def _partitions(reader, topic):
    return [TopicPartition(topic, partition) for partition in sorted(reader.partitions_for_topic(topic))]


def _record(message):
    return records.Record(message.key, message.value, tuple(message.headers), message.timestamp, message.partition,
                          message.offset)


def offsets(topic, time):
    """-2 is the earliest, -1 the latest."""
    reader = KafkaConsumer(**BOOTSTRAP)
    try:
        partitions = _partitions(reader, topic)
        if time < 0:
            found = (reader.beginning_offsets if time == -2 else reader.end_offsets)(partitions)
            return {partition.partition: offset for partition, offset in found.items()}
        found = reader.offsets_for_times({partition: time for partition in partitions})
        return {partition.partition: place.offset if place else -1 for partition, place in found.items()}
    finally:
        reader.close()


def committed(topic, group):
    found = _admin(lambda admin: admin.list_group_offsets({group: None}))[group]
    return {partition.partition: place.offset for partition, place in found.items() if partition.topic == topic}


def groups():
    return sorted(group["group_id"] for group in _admin(lambda admin: admin.list_groups()))


def describe_group(group):
    found = _admin(lambda admin: admin.describe_groups([group]))[group]
    return {"state": found["group_state"], "members": [member["client_id"] for member in found["members"]]}


def delete_group(group):
    result = _admin(lambda admin: admin.delete_groups([group]))[group]
    if result != "OK":
        raise RuntimeError(result)


def delete_records(topic, offsets):
    wanted = {TopicPartition(topic, int(partition)): offset for partition, offset in offsets.items()}
    _admin(lambda admin: admin.delete_records(wanted))


class _Listener(ConsumerRebalanceListener):
    def __init__(self):
        self.member = None

    def on_partitions_assigned(self, assigned):
        self.member.assigned(_names(assigned))

    def on_partitions_revoked(self, revoked):
        self.member.revoked(_names(revoked))

    def on_partitions_lost(self, lost):
        self.member.revoked(_names(lost))


def join(member, group, topics, assignor):
    reader = KafkaConsumer(**BOOTSTRAP, group_id=group, client_id=member, session_timeout_ms=10_000,
                           heartbeat_interval_ms=300, partition_assignment_strategy=[ASSIGNORS[assignor]],
                           enable_auto_commit=False, auto_offset_reset="earliest", metadata_max_age_ms=1000)
    listener = _Listener()
    listener.member = _members[member] = Member(lambda: reader.poll(100), reader.close)
    reader.subscribe(topics, listener=listener)
    listener.member.start()
    return {}


def _names(partitions):
    return {(partition.topic, partition.partition) for partition in partitions}


def assignment(member):
    return _members[member].state()


def leave(member):
    return _members.pop(member).leave()


def create(topic, partitions, configs=None):
    wanted = {topic: {"num_partitions": partitions, "replication_factor": 1, "configs": configs or {}}}
    _admin(lambda admin: admin.create_topics(wanted))


def grow(topic, partitions):
    _admin(lambda admin: admin.create_partitions({topic: partitions}))


def delete(topic):
    _admin(lambda admin: admin.delete_topics([topic]))


def alter(topic, configs):
    _admin(lambda admin: admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, configs)]))


def describe(topic):
    def ask(admin):
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        configs = admin.describe_configs([resource], config_filter="all")["topic"][topic]
        partitions = admin.describe_topics([topic])[0]["partitions"]
        return {"partitions": len(partitions), "configs": {name: entry["value"] for name, entry in configs.items()}}
    return _admin(ask)


def topics():
    return sorted(_admin(lambda admin: admin.list_topics()))


def _admin(use):
    admin = KafkaAdminClient(**BOOTSTRAP)
    try:
        return use(admin)
    finally:
        admin.close()


serve([produce, consume, seek, pause, offsets, committed, groups, describe_group, delete_group, delete_records, join, assignment,
       leave, create, grow, delete, alter, describe, topics])
