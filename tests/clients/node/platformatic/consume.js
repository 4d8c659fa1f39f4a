// Consuming. Each stream is read by a member of a group; a plain read has a group that nobody else knows.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Consumer } from '@platformatic/kafka'
import { write } from '../records.js'
import { Cannot } from '../serve.js'
import { offsets as offsetsFor } from './admin.js'
import { settings } from './settings.js'

const SECONDS = 60
const QUIET_MS = 300

// `count` is how many records there are; what comes within a moment after the last of them would be too many.
export const consume = ({ topic, file, offsets, time, group, count }) =>
  reading(group, async reader => {
    const found = group ? await nextOfGroup(reader, topic, count) : await rest(reader, topic, offsets, time, count)
    write(file, found.map(incoming))
  })

async function nextOfGroup(reader, topic, count) {
  const stream = await reader.consume({ topics: [topic], mode: 'committed', fallbackMode: 'earliest' })
  const found = (await arrived(stream, count, 0)).slice(0, count)
  const last = new Map(found.map(message => [message.partition, message]))
  for (const message of last.values()) await message.commit()
  await stream.close()
  return found
}

async function rest(reader, topic, offsets, time, count) {
  const stream = await from(reader, topic, offsets ?? (await offsetsFor({ topic, time: time ?? -2 })))
  const found = await arrived(stream, count, QUIET_MS)
  await stream.close()
  return found
}

// A seek is another stream of the same consumer.
export const seek = ({ topic, file, first, to, count }) =>
  reading(undefined, async reader => {
    const ends = await offsetsFor({ topic, time: -1 })
    const before = await from(reader, topic, { ...ends, 0: 0 })
    const found = (await arrived(before, first, 0)).slice(0, first)
    await before.close()
    const after = await from(reader, topic, { ...ends, 0: to })
    found.push(...(await arrived(after, count, QUIET_MS)))
    await after.close()
    write(file, found.map(incoming))
  })

export const pause = () => {
  throw new Cannot('pauses whole streams, no partitions')
}

async function reading(group, use) {
  const reader = new Consumer({
    ...settings, groupId: group ?? `nobody-${randomUUID()}`, autocommit: false, maxWaitTime: 100, maxBytesPerPartition: 4_000_000,
    sessionTimeout: 10_000, heartbeatInterval: 500,
  })
  try {
    return await use(reader)
  } finally {
    await reader.close(true)
  }
}

const from = (reader, topic, offsets) =>
  reader.consume({
    topics: [topic],
    mode: 'manual',
    offsets: Object.entries(offsets).map(([partition, offset]) => ({ topic, partition: Number(partition), offset: BigInt(offset) })),
  })

async function arrived(stream, count, quietMs) {
  const found = []
  let failure
  let last = Date.now()
  stream.on('error', error => (failure = error))
  stream.on('data', message => {
    found.push(message)
    last = Date.now()
  })
  const deadline = Date.now() + SECONDS * 1000
  while (Date.now() < deadline && !failure && (found.length < count || Date.now() - last < quietMs)) await sleep(20)
  if (failure?.errors?.some(({ apiId }) => apiId === 'OFFSET_OUT_OF_RANGE')) throw new Cannot('has no auto.offset.reset')
  if (failure) throw failure
  return found
}

const incoming = message => ({ ...message, headers: [...message.headers] })
