// Producing. A request's records go out in one `send`, hence as one batch for each partition.

import { setTimeout as sleep } from 'node:timers/promises'
import kafkajs from 'kafkajs'
import { codecs, kafka } from './kafka.js'
import { read } from '../records.js'

const producers = new Map()

// With `pace_us` the records go out in steps of a hundred, so that the sending lasts as long as it does elsewhere.
export async function produce({ topic, file, codec = 'none', acks = -1, idempotent = false, producer, pace_us = 0 }) {
  const client = await open(producer, idempotent)
  const records = read(file).map(outgoing)
  const step = pace_us ? 100 : records.length
  const acked = []
  for (let at = 0; at < records.length; at += step) {
    const messages = records.slice(at, at + step)
    acked.push(...places(await client.send({ topic, acks, compression: codecs[codec], messages })))
    if (pace_us) await sleep((step * pace_us) / 1000)
  }
  return { places: acked, errors: [] }
}

async function open(name, idempotent) {
  const key = `${name} ${idempotent}`
  if (!producers.has(key)) {
    const client = kafka.producer({
      idempotent,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      metadataMaxAge: 1000,
    })
    await client.connect()
    producers.set(key, client)
  }
  return producers.get(key)
}

const outgoing = ({ key, value, headers, timestamp, partition }) => ({
  key,
  value,
  headers: Object.fromEntries(headers),
  ...(timestamp !== undefined && { timestamp: String(timestamp) }),
  ...(partition !== undefined && { partition }),
})

// kafkajs tells the base offset of each batch only.
const places = results => results.map(({ partition, baseOffset }) => [partition, Number(baseOffset)])
