"""aiokafka as a client under test. Its event loop runs in a thread of its own; each verb is a coroutine in it."""

import asyncio
import sys
import threading
import time as clock
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import for_code
from membership import Member
from serve import Cannot, serve
from suite import records

BOOTSTRAP = {"bootstrap_servers": sys.argv[1]}
SECONDS = 90
PAUSE_SECONDS = 0.5
ASSIGNORS = {"range": RangePartitionAssignor, "roundrobin": RoundRobinPartitionAssignor, "sticky": StickyPartitionAssignor}
_loop = asyncio.new_event_loop()
_producers = {}
_members = {}


async def produce(topic, file, codec="none", acks=-1, idempotent=False, producer=None, pace_us=0):
    client = await _producer(producer, codec, acks, idempotent)
    futures = []
    for record in records.read(file):
        futures.append(await client.send(topic, value=record.value, key=record.key, headers=list(record.headers),
                                         partition=record.partition, timestamp_ms=record.timestamp))
        if pace_us:
            await asyncio.sleep(pace_us / 1e6)
    places = await asyncio.gather(*futures, return_exceptions=True)
    errors = [repr(place) for place in places if isinstance(place, Exception)]
    acked = [None if isinstance(place, Exception) else [place.partition, place.offset] for place in places]
    return {"acked": acked, "errors": errors[:5]}


async def _producer(name, codec, acks, idempotent):
    key = (name, codec, acks, idempotent)
    if key not in _producers:
        _producers[key] = AIOKafkaProducer(
            **BOOTSTRAP, compression_type=None if codec == "none" else codec, acks="all" if acks == -1 else acks,
            enable_idempotence=idempotent, linger_ms=50, max_request_size=4_000_000, max_batch_size=1_000_000,
            metadata_max_age_ms=1000)
        await _producers[key].start()
    return _producers[key]


async def consume(topic, file, offsets=None, time=None, group=None, count=None):
    async with _reader(group_id=group) as reader:
        found = await _next_of_group(reader, topic, count) if group else await _to_the_end(reader, topic, offsets, time)
    records.write(file, found)
    return {"count": len(found)}


async def _next_of_group(reader, topic, count):
    reader.subscribe([topic])
    found = await _next(reader, count)
    await reader.commit({TopicPartition(topic, record.partition): record.offset + 1 for record in found})
    return found


async def _to_the_end(reader, topic, offsets, time):
    partitions = await _partitions(topic)
    if offsets:
        partitions = [partition for partition in partitions if str(partition.partition) in offsets]
    reader.assign(partitions)
    ends = await reader.end_offsets(partitions)
    await _seek(reader, partitions, offsets, time, ends)
    found = []
    deadline = clock.monotonic() + SECONDS
    while any([await reader.position(partition) < ends[partition] for partition in partitions]):
        if clock.monotonic() > deadline:
            raise TimeoutError(f"positions stay before {ends}")
        for batch in (await reader.getmany(timeout_ms=200)).values():
            found += map(_record, batch)
    return found


async def _seek(reader, partitions, offsets, time, ends):
    if offsets:
        for partition in partitions:
            reader.seek(partition, offsets[str(partition.partition)])
    elif time is not None:
        for partition, found in (await reader.offsets_for_times({partition: time for partition in partitions})).items():
            reader.seek(partition, found.offset if found else ends[partition])
    else:
        await reader.seek_to_beginning(*partitions)


async def seek(topic, file, first, to, count):
    """Reads `first` records of partition 0, seeks to offset `to`, and reads `count` more."""
    async with _reader() as reader:
        reader.assign([TopicPartition(topic, 0)])
        found = await _next(reader, first)
        reader.seek(TopicPartition(topic, 0), to)
        records.write(file, found + await _next(reader, count))


async def pause(topic, file, count):
    """Reads `count` records of each of partitions 0 and 1, of which 1 is paused until those of 0 are there and a moment has passed."""
    async with _reader() as reader:
        reader.assign([TopicPartition(topic, 0), TopicPartition(topic, 1)])
        reader.pause(TopicPartition(topic, 1))
        found = await _next(reader, count) + await _next(reader, 1, PAUSE_SECONDS)
        reader.resume(TopicPartition(topic, 1))
        records.write(file, found + await _next(reader, 2 * count - len(found)))


@asynccontextmanager
async def _reader(**settings):
    reader = AIOKafkaConsumer(**BOOTSTRAP, auto_offset_reset="earliest", enable_auto_commit=False,
                              max_partition_fetch_bytes=4_000_000, **settings)
    await reader.start()
    try:
        yield reader
    finally:
        await reader.stop()


async def _next(reader, count, seconds=SECONDS):
    """At most `count` records, in at most that time."""
    found = []
    deadline = clock.monotonic() + seconds
    while len(found) < count and clock.monotonic() < deadline:
        for batch in (await reader.getmany(timeout_ms=100, max_records=count - len(found))).values():
            found += map(_record, batch)
    return found


def _record(message):
    return records.Record(message.key, message.value, tuple(message.headers), message.timestamp, message.partition,
                          message.offset)


async def offsets(topic, time):
    """-2 is the earliest, -1 the latest."""
    partitions = await _partitions(topic)
    async with _reader() as reader:
        if time < 0:
            found = await (reader.beginning_offsets if time == -2 else reader.end_offsets)(partitions)
            return {partition.partition: offset for partition, offset in found.items()}
        found = await reader.offsets_for_times({partition: time for partition in partitions})
        return {partition.partition: place.offset if place else -1 for partition, place in found.items()}


async def _partitions(topic):
    async with _admin() as admin:
        (found,) = await admin.describe_topics([topic])
    return [TopicPartition(topic, number) for number in sorted(entry["partition"] for entry in found["partitions"])]


async def committed(topic, group):
    async with _admin() as admin:
        found = await admin.list_consumer_group_offsets(group)
    return {partition.partition: place.offset for partition, place in found.items() if partition.topic == topic}


async def groups():
    async with _admin() as admin:
        return sorted(group for group, *_ in await admin.list_consumer_groups())


async def describe_group(group):
    async with _admin() as admin:
        (answer,) = await admin.describe_consumer_groups([group])
    (found,) = answer.to_object()["groups"]
    _require(found["error_code"])
    return {"state": found["state"], "members": [member["client_id"] for member in found["members"]]}


async def delete_group(group):
    raise Cannot("deletes no groups")


async def delete_records(topic, offsets):
    wanted = {TopicPartition(topic, int(partition)): RecordsToDelete(offset) for partition, offset in offsets.items()}
    async with _admin() as admin:
        await admin.delete_records(wanted)


class _Listener(ConsumerRebalanceListener):
    def __init__(self, member):
        self._member = member

    async def on_partitions_assigned(self, assigned):
        self._member.assigned(_names(assigned))

    async def on_partitions_revoked(self, revoked):
        self._member.revoked(_names(revoked))


def _names(partitions):
    return {(partition.topic, partition.partition) for partition in partitions}


async def join(member, group, topics, assignor):
    reader = AIOKafkaConsumer(**BOOTSTRAP, group_id=group, client_id=member, session_timeout_ms=10_000, heartbeat_interval_ms=300,
                              partition_assignment_strategy=[ASSIGNORS[assignor]], enable_auto_commit=False,
                              auto_offset_reset="earliest", metadata_max_age_ms=1000)
    _members[member] = joined = Member(lambda: _wait(reader.getmany(timeout_ms=100)), lambda: _wait(reader.stop()))
    reader.subscribe(topics, listener=_Listener(joined))
    await reader.start()
    joined.start()


async def assignment(member):
    return _members[member].state()


async def leave(member):
    """In another thread, because the member's own needs this loop to end."""
    return await asyncio.to_thread(_members.pop(member).leave)


async def create(topic, partitions, configs=None):
    async with _admin() as admin:
        answer = await admin.create_topics([NewTopic(topic, partitions, 1, topic_configs=configs or {})])
    for _, *error in answer.topic_errors:
        _require(*error)


async def grow(topic, partitions):
    async with _admin() as admin:
        await admin.create_partitions({topic: NewPartitions(partitions)})


async def delete(topic):
    async with _admin() as admin:
        answer = await admin.delete_topics([topic])
    for _, error in answer.topic_error_codes:
        _require(error)


async def alter(topic, configs):
    async with _admin() as admin:
        (answer,) = await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, configs)])
    for error, message, *_ in answer.resources:
        _require(error, message)


async def describe(topic):
    async with _admin() as admin:
        (answer,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        (found,) = await admin.describe_topics([topic])
    ((error, message, _, _, configs),) = answer.resources
    _require(error, message)
    return {"partitions": len(found["partitions"]), "configs": {name: value for name, value, *_ in configs}}


async def topics():
    async with _admin() as admin:
        return sorted(await admin.list_topics())


def _require(code, message=None):
    """aiokafka's admin leaves most errors in the answer."""
    if code:
        raise for_code(code)(message)


@asynccontextmanager
async def _admin():
    admin = AIOKafkaAdminClient(**BOOTSTRAP)
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


def _wait(coroutine):
    return asyncio.run_coroutine_threadsafe(coroutine, _loop).result()


threading.Thread(target=_loop.run_forever, daemon=True).start()
serve([produce, consume, seek, pause, offsets, committed, groups, describe_group, delete_group, delete_records, join, assignment,
       leave, create, grow, delete, alter, describe, topics], lambda verb, arguments: _wait(verb(**arguments)))
