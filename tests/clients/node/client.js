// kafkajs as a client under test: one JSON request a line on standard input, one JSON answer a line on standard output.

import { createInterface } from 'node:readline'
import * as admin from './admin.js'
import { consume } from './consume.js'
import * as members from './members.js'
import { produce } from './produce.js'

const verbs = { produce, consume, ...admin, ...members }

for await (const line of createInterface({ input: process.stdin })) {
  const { do: verb, ...request } = JSON.parse(line)
  console.log(JSON.stringify(await answer(verb, request)))
}
process.exit(0)

async function answer(verb, request) {
  try {
    if (!verbs[verb]) throw new Error(`cannot ${verb}`)
    return { ok: (await verbs[verb](request)) ?? null }
  } catch (error) {
    console.error(error)
    return { error: `${error.name}: ${error.message}` }
  }
}
