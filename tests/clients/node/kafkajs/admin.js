// What an operator asks of a broker.

import kafkajs from 'kafkajs'
import { kafka } from './kafka.js'

const { ConfigResourceTypes } = kafkajs

export const create = ({ topic, partitions, configs = {} }) =>
  use(async admin => {
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }))
    const topics = [{ topic, numPartitions: partitions, replicationFactor: 1, configEntries }]
    // kafkajs makes no error of a topic that is there.
    if (!(await admin.createTopics({ topics }))) throw new Error(`${topic} exists`)
  })

export const grow = ({ topic, partitions }) =>
  use(async admin => {
    await admin.createPartitions({ topicPartitions: [{ topic, count: partitions }] })
  })

export const remove = ({ topic }) => use(admin => admin.deleteTopics({ topics: [topic] }))
export { remove as delete }

// kafkajs has only the older AlterConfigs, which sets all configs at once.
export const alter = ({ topic, configs }) =>
  use(async admin => {
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }))
    await admin.alterConfigs({ validateOnly: false, resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }] })
  })

export const describe = ({ topic }) =>
  use(async admin => {
    const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic }]
    const { resources: [{ configEntries }] } = await admin.describeConfigs({ resources, includeSynonyms: false })
    const { topics: [{ partitions }] } = await admin.fetchTopicMetadata({ topics: [topic] })
    const configs = Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue]))
    return { partitions: partitions.length, configs }
  })

export const topics = () => use(async admin => (await admin.listTopics()).sort())

// -2 is the earliest, -1 the latest.
export const offsets = ({ topic, time }) =>
  use(async admin => {
    const found = time < 0 ? await admin.fetchTopicOffsets(topic) : await admin.fetchTopicOffsetsByTimestamp(topic, time)
    const field = { '-2': 'low', '-1': 'high' }[time] ?? 'offset'
    return Object.fromEntries(found.map(entry => [entry.partition, Number(entry[field])]))
  })

export const committed = ({ topic, group }) =>
  use(async admin => {
    const [{ partitions }] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
    return Object.fromEntries(partitions.map(({ partition, offset }) => [partition, Number(offset)]))
  })

export const groups = () => use(async admin => (await admin.listGroups()).groups.map(({ groupId }) => groupId).sort())

export const describe_group = ({ group }) =>
  use(async admin => {
    const { groups: [{ state, members }] } = await admin.describeGroups([group])
    return { state, members: members.map(({ clientId }) => clientId) }
  })

export const delete_group = ({ group }) => use(async admin => void (await admin.deleteGroups([group])))

export const delete_records = ({ topic, offsets: before }) =>
  use(async admin => {
    const partitions = Object.entries(before).map(([partition, offset]) => ({ partition: Number(partition), offset: String(offset) }))
    // It looks for the leaders before it has asked for any: this makes it ask.
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions })
  })

async function use(ask) {
  const admin = kafka.admin()
  await admin.connect()
  try {
    return await ask(admin)
  } finally {
    await admin.disconnect()
  }
}
