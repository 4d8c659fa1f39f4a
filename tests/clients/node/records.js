// Files of records: one JSON object a line, bytes in base64. `../suite/records.py` tells the fields. Here a key or value that is
// null is so, and headers are pairs.

import { readFileSync, writeFileSync } from 'node:fs'

const decode = text => (text === null ? null : Buffer.from(text, 'base64'))
const encode = data => (data == null ? null : Buffer.from(data).toString('base64'))

export const read = file =>
  readFileSync(file, 'utf8').split('\n').filter(Boolean).map(JSON.parse).map(({ k, v, h = [], t, p }) => ({
    key: decode(k),
    value: decode(v),
    headers: h.map(([name, value]) => [name, decode(value)]),
    timestamp: t,
    partition: p,
  }))

export const write = (file, found) => writeFileSync(file, found.map(record => JSON.stringify(line(record)) + '\n').join(''))

const line = ({ key, value, headers, timestamp, partition, offset }) => ({
  k: encode(key),
  v: encode(value),
  h: headers.map(([name, bytes]) => [String(name), encode(bytes)]),
  t: Number(timestamp),
  p: partition,
  o: Number(offset),
})
