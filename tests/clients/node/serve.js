// The loop of a client process: one JSON request a line on standard input, one JSON answer a line on standard output.

import { createInterface } from 'node:readline'

// The client has no way to do a thing; the text says what it lacks.
export class Cannot extends Error {}

// `verbs` has a function for each name that a request's `do` may have; its result is the answer.
export async function serve(verbs) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { do: verb, ...request } = JSON.parse(line)
    console.log(JSON.stringify(await answer(verbs[verb], request)))
  }
  process.exit(0)
}

async function answer(verb, request) {
  try {
    return { ok: (await verb(request)) ?? null }
  } catch (error) {
    if (error instanceof Cannot) return { cannot: error.message }
    console.error(error)
    return { error: told(error) }
  }
}

// With what is inside of it: what went wrong with each group, partition or attempt.
function told(error) {
  const inside = error.errors ?? [...(error.groups ?? []), ...(error.partitions ?? [])].map(part => part.error)
  return [`${error.name}: ${error.message}`, ...inside.filter(Boolean).map(told)].join('; ')
}
