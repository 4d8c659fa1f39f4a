// Producing. A request's records go out in one `send`.

import zlib from 'node:zlib'
import { Producer } from '@platformatic/kafka'
import { read } from '../records.js'
import { Cannot } from '../serve.js'
import { settings } from './settings.js'

const producers = new Map()

export async function produce({ topic, file, codec = 'none', acks = -1, idempotent = false, producer }) {
  if (codec === 'zstd' && !zlib.zstdCompressSync) throw new Cannot('has zstd from Node 22.15 on')
  const messages = read(file).map(record => outgoing(topic, record))
  await open(producer, idempotent).send({ messages, acks, compression: codec })
  return { errors: [] }
}

function open(name, idempotent) {
  const key = `${name} ${idempotent}`
  if (!producers.has(key)) producers.set(key, new Producer({ ...settings, idempotent }))
  return producers.get(key)
}

const outgoing = (topic, { key, value, headers, timestamp, partition }) => ({
  topic,
  key: key ?? undefined,
  value: value ?? undefined,
  headers: new Map(headers.map(([name, bytes]) => [Buffer.from(name), bytes])),
  ...(timestamp !== undefined && { timestamp: BigInt(timestamp) }),
  ...(partition !== undefined && { partition }),
})
