// What an operator asks of a broker.

import { Admin, ConfigResourceTypes, IncrementalAlterConfigOperationTypes } from '@platformatic/kafka'
import { settings } from './settings.js'

const admin = new Admin({ ...settings, retries: 3 })

export const create = async ({ topic, partitions, configs = {} }) => {
  const entries = Object.entries(configs).map(([name, value]) => ({ name, value }))
  await admin.createTopics({ topics: [topic], partitions, replicas: 1, configs: entries })
}

export const grow = ({ topic, partitions }) => admin.createPartitions({ topics: [{ name: topic, count: partitions }] })

export const remove = ({ topic }) => admin.deleteTopics({ topics: [topic] })
export { remove as delete }

export const alter = ({ topic, configs }) =>
  admin.incrementalAlterConfigs({
    resources: [{
      resourceType: ConfigResourceTypes.TOPIC,
      resourceName: topic,
      configs: Object.entries(configs).map(([name, value]) => ({
        name, value, configOperation: IncrementalAlterConfigOperationTypes.SET,
      })),
    }],
  })

export const describe = async ({ topic }) => {
  const resources = [{ resourceType: ConfigResourceTypes.TOPIC, resourceName: topic }]
  const [{ configs }] = await admin.describeConfigs({ resources })
  const numbers = await partitionsOf(topic)
  return { partitions: numbers.length, configs: Object.fromEntries(configs.map(({ name, value }) => [name, value])) }
}

async function partitionsOf(topic) {
  const { topics } = await admin.metadata({ topics: [topic], forceUpdate: true })
  return [...topics.get(topic).partitions.keys()]
}

export const topics = async () => (await admin.listTopics()).sort()

// -2 is the earliest, -1 the latest.
export const offsets = async ({ topic, time }) => {
  const partitions = (await partitionsOf(topic)).map(partitionIndex => ({ partitionIndex, timestamp: BigInt(time) }))
  const [found] = await admin.listOffsets({ topics: [{ name: topic, partitions }] })
  return Object.fromEntries(found.partitions.map(({ partitionIndex, offset }) => [partitionIndex, Number(offset)]))
}

export const delete_records = async ({ topic, offsets: before }) => {
  const partitions = Object.entries(before).map(([partition, offset]) => ({ partition: Number(partition), offset: BigInt(offset) }))
  await admin.deleteRecords({ topics: [{ name: topic, partitions }] })
}

export const committed = async ({ topic, group }) => {
  const [{ topics: found }] = await admin.listConsumerGroupOffsets({ groups: [group] })
  const partitions = found.find(({ name }) => name === topic)?.partitions ?? []
  return Object.fromEntries(partitions.map(({ partitionIndex, committedOffset }) => [partitionIndex, Number(committedOffset)]))
}

export const groups = async () => [...(await admin.listGroups()).keys()].sort()

export const describe_group = async ({ group }) => {
  const { state, members } = (await admin.describeGroups({ groups: [group] })).get(group)
  return { state, members: [...members.values()].map(({ clientId }) => clientId) }
}

export const delete_group = ({ group }) => admin.deleteGroups({ groups: [group] })
