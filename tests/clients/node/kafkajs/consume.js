// Consuming. kafkajs reads through groups only, so a plain read has a group that nobody else knows.

import { setTimeout as sleep } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import { kafka } from './kafka.js'
import { offsets as offsetsFor } from './admin.js'
import { write } from '../records.js'

const SECONDS = 30
const QUIET_MS = 300

// `count` is how many records there are: kafkajs does not tell when it has passed offsets without records. What comes
// within a moment after the last of them would be too many.
export async function consume({ topic, file, offsets, time, group, count }) {
  const reader = kafka.consumer({
    groupId: group ?? `nobody-${randomUUID()}`, maxBytesPerPartition: 4_000_000, maxWaitTimeInMs: 100, sessionTimeout: 10_000,
    heartbeatInterval: 500,
  })
  await reader.connect()
  try {
    await reader.subscribe({ topic, fromBeginning: true })
    const starts = await startsOf(topic, offsets, time)
    const found = await collect(reader, topic, starts, count, group)
    write(file, found.map(incoming))
    return { count: found.length }
  } finally {
    await reader.disconnect()
  }
}

// A header that occurs twice is an array in kafkajs.
const incoming = ({ partition, message: { key, value, headers = {}, timestamp, offset } }) => ({
  key,
  value,
  headers: Object.entries(headers).flatMap(([name, values]) => [values].flat().map(one => [name, one])),
  timestamp,
  partition,
  offset,
})

// Reads `first` records of partition 0, seeks to offset `to`, and reads `count` more.
export const seek = ({ topic, file, first, to, count }) =>
  reading(topic, file, { partitions: [0] }, async (reader, found) => {
    await arrived(found, first)
    // It then drops what it has fetched.
    reader.seek({ topic, partition: 0, offset: String(to) })
    const before = found.splice(0).slice(0, first)
    await arrived(found, count)
    found.unshift(...before)
  })

// Reads `count` records of each of partitions 0 and 1, of which 1 is paused until those of 0 are there and a moment has passed.
export const pause = ({ topic, file, count }) =>
  reading(topic, file, { partitions: [0, 1], paused: [1] }, async (reader, found) => {
    await arrived(found, count)
    await sleep(QUIET_MS)
    reader.resume([{ topic, partitions: [1] }])
    await arrived(found, 2 * count)
  })

// A consumer of a group that nobody else knows, one record after the other; what is `paused` is so before its first fetch.
async function reading(topic, file, { partitions, paused = [] }, use) {
  const reader = kafka.consumer({ groupId: `nobody-${randomUUID()}`, maxWaitTimeInMs: 100, sessionTimeout: 10_000 })
  await reader.connect()
  try {
    await reader.subscribe({ topic, fromBeginning: true })
    const found = []
    const take = async ({ partition, message }) => partitions.includes(partition) && found.push({ partition, message })
    await reader.run({ autoCommit: false, eachMessage: take })
    reader.pause([{ topic, partitions: paused }])
    await use(reader, found)
    write(file, found.map(incoming))
  } finally {
    await reader.disconnect()
  }
}

async function arrived(found, count) {
  const deadline = Date.now() + SECONDS * 1000
  while (found.length < count && Date.now() < deadline) await sleep(20)
}

async function startsOf(topic, offsets, time) {
  if (offsets) return offsets
  return time === undefined ? {} : await offsetsFor({ topic, time })
}

async function collect(reader, topic, starts, count, group) {
  const found = []
  let last = Date.now()
  const take = async ({ batch, resolveOffset, heartbeat }) => {
    const partition = batch.partition
    if (Object.keys(starts).length && !(partition in starts)) return
    for (const message of batch.messages) {
      if (group && found.length >= count) break
      if (Number(message.offset) < Number(starts[partition] ?? 0)) continue
      found.push({ partition, message })
      resolveOffset(message.offset)
      last = Date.now()
    }
    await heartbeat()
  }
  await reader.run({ eachBatchAutoResolve: false, autoCommit: Boolean(group), autoCommitThreshold: 1, eachBatch: take })
  for (const [partition, offset] of Object.entries(starts)) {
    reader.seek({ topic, partition: Number(partition), offset: String(offset) })
  }
  const deadline = Date.now() + SECONDS * 1000
  while (Date.now() < deadline && (found.length < count || Date.now() - last < QUIET_MS)) await sleep(20)
  await reader.stop()
  return found
}
