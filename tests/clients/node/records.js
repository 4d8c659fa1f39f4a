// Files of records: one JSON object a line, bytes in base64. `../suite/records.py` tells the fields.

import { readFileSync, writeFileSync } from 'node:fs'

const decode = text => (text === null ? null : Buffer.from(text, 'base64'))
const encode = data => (data == null ? null : Buffer.from(data).toString('base64'))

export const read = file =>
  readFileSync(file, 'utf8').split('\n').filter(Boolean).map(JSON.parse).map(record => ({
    key: decode(record.k),
    value: decode(record.v),
    headers: Object.fromEntries((record.h ?? []).map(([name, value]) => [name, decode(value)])),
    ...(record.t !== undefined && { timestamp: String(record.t) }),
    ...(record.p !== undefined && { partition: record.p }),
  }))

export const write = (file, found) =>
  writeFileSync(file, found.map(record => JSON.stringify(line(record)) + '\n').join(''))

// A header that occurs twice is an array in kafkajs.
const line = ({ partition, message }) => ({
  k: encode(message.key),
  v: encode(message.value),
  h: Object.entries(message.headers ?? {}).flatMap(([name, value]) => [value].flat().map(one => [name, encode(one)])),
  t: Number(message.timestamp),
  p: partition,
  o: Number(message.offset),
})
