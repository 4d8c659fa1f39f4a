// Members of groups, and the history of what each owned. The one assignor that the library has is its default.

import { Consumer } from '@platformatic/kafka'
import { Cannot } from '../serve.js'
import { settings } from './settings.js'

const members = new Map()

export async function join({ member, group, topics, assignor }) {
  if (assignor !== 'roundrobin') throw new Cannot(`has no assignor ${assignor}`)
  const reader = new Consumer({
    ...settings, clientId: member, groupId: group, autocommit: false, sessionTimeout: 10_000, heartbeatInterval: 300,
    rebalanceTimeout: 10_000, maxWaitTime: 200,
  })
  const joined = { reader, owned: [], history: [] }
  members.set(member, joined)
  reader.on('consumer:group:rebalance', () => revoke(joined))
  reader.on('consumer:group:join', ({ assignments }) => assign(joined, assignments))
  // Joining waits for the others of the group: nobody here does.
  reader.consume({ topics, mode: 'committed', fallbackMode: 'earliest' }).then(stream => read(joined, stream), error => fail(joined, error))
}

function read(joined, stream) {
  joined.stream = stream
  stream.on('error', error => fail(joined, error))
  stream.on('data', () => {})
}

function fail(joined, error) {
  console.error(error)
  joined.failure = error
}

export const assignment = ({ member }) => {
  const { owned, history, failure } = members.get(member)
  if (failure) throw failure
  return { owned, history }
}

export async function leave({ member }) {
  const joined = members.get(member)
  members.delete(member)
  revoke(joined)
  await joined.reader.close(true)
  return { history: joined.history }
}

function assign(joined, assignments) {
  revoke(joined)
  joined.owned = (assignments ?? [])
    .flatMap(({ topic, partitions }) => partitions.map(partition => [topic, partition]))
    .sort(([a, i], [b, j]) => a.localeCompare(b) || i - j)
  note(joined, '+')
}

function revoke(joined) {
  note(joined, '-')
  joined.owned = []
}

function note({ owned, history }, sign) {
  for (const [topic, partition] of owned) history.push([Date.now(), sign, topic, partition])
}
