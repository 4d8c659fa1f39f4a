// Members of groups, and the history of what each owned.

import kafkajs from 'kafkajs'
import { Cannot } from '../serve.js'
import { connect } from './kafka.js'

const members = new Map()

// The only assignor that kafkajs has is its RoundRobinAssigner.
export async function join({ member, group, topics, assignor }) {
  if (assignor !== 'roundrobin') throw new Cannot(`has no assignor ${assignor}`)
  const reader = connect(member).consumer({
    groupId: group, sessionTimeout: 10_000, heartbeatInterval: 300, metadataMaxAge: 1000, maxWaitTimeInMs: 200,
    partitionAssigners: [kafkajs.PartitionAssigners.roundRobin],
  })
  const joined = { reader, owned: [], history: [] }
  members.set(member, joined)
  const { GROUP_JOIN, REBALANCING } = reader.events
  reader.on(REBALANCING, () => revoke(joined))
  reader.on(GROUP_JOIN, ({ payload }) => assign(joined, payload.memberAssignment))
  await reader.connect()
  await reader.subscribe({ topics, fromBeginning: true })
  await reader.run({ autoCommit: false, eachMessage: async () => {} })
}

export const assignment = ({ member }) => {
  const { owned, history } = members.get(member)
  return { owned, history }
}

export async function leave({ member }) {
  const joined = members.get(member)
  members.delete(member)
  revoke(joined)
  await joined.reader.disconnect()
  return { history: joined.history }
}

function assign(joined, assignment) {
  revoke(joined)
  joined.owned = Object.entries(assignment)
    .flatMap(([topic, partitions]) => partitions.map(partition => [topic, partition]))
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
