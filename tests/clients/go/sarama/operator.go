package sarama

import (
	"errors"
	"slices"

	"github.com/IBM/sarama"
	"klamm/clients/verb"
)

func (it *client) Create(request verb.Request) error {
	configs := map[string]*string{}
	for name, value := range request.Configs {
		configs[name] = &value
	}
	detail := &sarama.TopicDetail{NumPartitions: request.Partitions, ReplicationFactor: 1, ConfigEntries: configs}
	return it.admin.CreateTopic(request.Topic, detail, false)
}

func (it *client) Grow(request verb.Request) error {
	return it.admin.CreatePartitions(request.Topic, request.Partitions, nil, false)
}

func (it *client) Delete(topic string) error { return it.admin.DeleteTopic(topic) }

func (it *client) Alter(request verb.Request) error {
	entries := map[string]sarama.IncrementalAlterConfigsEntry{}
	for name, value := range request.Configs {
		entries[name] = sarama.IncrementalAlterConfigsEntry{Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value}
	}
	return it.admin.IncrementalAlterConfig(sarama.TopicResource, request.Topic, entries, false)
}

func (it *client) Describe(topic string) (verb.Topic, error) {
	described, err := it.admin.DescribeTopics([]string{topic})
	if err != nil {
		return verb.Topic{}, err
	}
	if described[0].Err != sarama.ErrNoError {
		return verb.Topic{}, described[0].Err
	}
	entries, err := it.admin.DescribeConfig(sarama.ConfigResource{Type: sarama.TopicResource, Name: topic})
	found := verb.Topic{Partitions: len(described[0].Partitions), Configs: map[string]string{}}
	for _, entry := range entries {
		found.Configs[entry.Name] = entry.Value
	}
	return found, err
}

func (it *client) Topics() ([]string, error) {
	listed, err := it.admin.ListTopics()
	var names []string
	for name := range listed {
		names = append(names, name)
	}
	return names, err
}

func (it *client) Offsets(topic string, time int64) (map[int32]int64, error) {
	if err := it.core.RefreshMetadata(topic); err != nil {
		return nil, err
	}
	partitions, err := it.core.Partitions(topic)
	found := map[int32]int64{}
	for _, partition := range partitions {
		offset, failed := it.core.GetOffset(topic, partition, time)
		found[partition], err = offset, errors.Join(err, failed)
	}
	return found, err
}

func (it *client) DeleteRecords(topic string, before map[int32]int64) error {
	return it.admin.DeleteRecords(topic, before)
}

func (it *client) Committed(group, topic string) (map[int32]int64, error) {
	committed, err := it.admin.ListConsumerGroupOffsets(group, nil)
	if err != nil {
		return nil, err
	}
	found := map[int32]int64{}
	for partition, block := range committed.Blocks[topic] {
		found[partition] = block.Offset
	}
	return found, nil
}

func (it *client) Groups() ([]string, error) {
	listed, err := it.admin.ListConsumerGroups()
	var names []string
	for name := range listed {
		names = append(names, name)
	}
	return names, err
}

func (it *client) DescribeGroup(group string) (verb.Group, error) {
	described, err := it.admin.DescribeConsumerGroups([]string{group})
	if err != nil {
		return verb.Group{}, err
	}
	if described[0].Err != sarama.ErrNoError {
		return verb.Group{}, described[0].Err
	}
	found := verb.Group{State: described[0].State, Members: []string{}}
	for _, member := range described[0].Members {
		found.Members = append(found.Members, member.ClientId)
	}
	slices.Sort(found.Members)
	return found, nil
}

func (it *client) DeleteGroup(group string) error { return it.admin.DeleteConsumerGroup(group) }
