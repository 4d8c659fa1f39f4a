package segmentio

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
	"klamm/clients/verb"
)

var ctx = context.Background()

func (it *client) Create(request verb.Request) error {
	topic := kafka.TopicConfig{Topic: request.Topic, NumPartitions: int(request.Partitions), ReplicationFactor: 1}
	for name, value := range request.Configs {
		topic.ConfigEntries = append(topic.ConfigEntries, kafka.ConfigEntry{ConfigName: name, ConfigValue: value})
	}
	answer, err := it.admin.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{topic}})
	if err != nil {
		return err
	}
	return answer.Errors[request.Topic]
}

func (it *client) Grow(request verb.Request) error {
	topic := kafka.TopicPartitionsConfig{Name: request.Topic, Count: request.Partitions}
	answer, err := it.admin.CreatePartitions(ctx, &kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{topic}})
	if err != nil {
		return err
	}
	return answer.Errors[request.Topic]
}

func (it *client) Delete(topic string) error {
	answer, err := it.admin.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	if err != nil {
		return err
	}
	return answer.Errors[topic]
}

func (it *client) Alter(request verb.Request) error {
	resource := kafka.IncrementalAlterConfigsRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: request.Topic}
	for name, value := range request.Configs {
		resource.Configs = append(resource.Configs, kafka.IncrementalAlterConfigsRequestConfig{
			Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet})
	}
	answer, err := it.admin.IncrementalAlterConfigs(ctx, &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{resource}})
	if err != nil {
		return err
	}
	return answer.Resources[0].Error
}

func (it *client) Describe(topic string) (verb.Topic, error) {
	partitions, err := it.partitions(topic)
	if err != nil {
		return verb.Topic{}, err
	}
	answer, err := it.admin.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{
		{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic}}})
	if err != nil {
		return verb.Topic{}, err
	}
	found := verb.Topic{Partitions: len(partitions), Configs: map[string]string{}}
	for _, entry := range answer.Resources[0].ConfigEntries {
		found.Configs[entry.ConfigName] = entry.ConfigValue
	}
	return found, answer.Resources[0].Error
}

// partitions waits for a topic that is younger than the library's metadata.
func (it *client) partitions(topic string) ([]int, error) {
	patient, cancel := context.WithTimeout(ctx, verb.Patience)
	defer cancel()
	for {
		numbers, err := it.knownPartitions(topic)
		waits := errors.Is(err, kafka.UnknownTopicOrPartition) || errors.Is(err, context.DeadlineExceeded)
		if !waits || patient.Err() != nil {
			return numbers, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (it *client) knownPartitions(topic string) ([]int, error) {
	answer, err := it.admin.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, partition := range answer.Topics[0].Partitions {
		numbers = append(numbers, partition.ID)
	}
	return numbers, answer.Topics[0].Error
}

func (it *client) Topics() ([]string, error) {
	answer, err := it.admin.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, topic := range answer.Topics {
		names = append(names, topic.Name)
	}
	return names, nil
}

// It asks for the first and the last offset of each partition beside what it is asked for.
func (it *client) Offsets(topic string, timeMs int64) (map[int32]int64, error) {
	partitions, err := it.partitions(topic)
	if err != nil {
		return nil, err
	}
	var asked []kafka.OffsetRequest
	for _, partition := range partitions {
		asked = append(asked, kafka.OffsetRequest{Partition: partition, Timestamp: timeMs})
	}
	answer, err := it.admin.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: asked}})
	if err != nil {
		return nil, err
	}
	found := map[int32]int64{}
	for _, partition := range answer.Topics[topic] {
		if partition.Error != nil {
			return nil, partition.Error
		}
		found[int32(partition.Partition)] = offset(partition, timeMs)
	}
	return found, nil
}

func offset(partition kafka.PartitionOffsets, timeMs int64) int64 {
	switch timeMs {
	case kafka.FirstOffset:
		return partition.FirstOffset
	case kafka.LastOffset:
		return partition.LastOffset
	}
	for offset := range partition.Offsets {
		return offset
	}
	return -1
}

func (it *client) DeleteRecords(string, map[int32]int64) error {
	return verb.Cannot("has no DeleteRecords")
}

func (it *client) Committed(group, topic string) (map[int32]int64, error) {
	partitions, err := it.partitions(topic)
	if err != nil {
		return nil, err
	}
	answer, err := it.admin.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: partitions}})
	if err != nil {
		return nil, err
	}
	found := map[int32]int64{}
	for _, partition := range answer.Topics[topic] {
		found[int32(partition.Partition)] = partition.CommittedOffset
	}
	return found, answer.Error
}

func (it *client) Groups() ([]string, error) {
	answer, err := it.admin.ListGroups(ctx, &kafka.ListGroupsRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, group := range answer.Groups {
		names = append(names, group.GroupID)
	}
	return names, answer.Error
}

func (it *client) DescribeGroup(group string) (verb.Group, error) {
	answer, err := it.admin.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
	if err != nil {
		return verb.Group{}, err
	}
	found := verb.Group{State: answer.Groups[0].GroupState, Members: []string{}}
	for _, member := range answer.Groups[0].Members {
		found.Members = append(found.Members, member.ClientID)
	}
	slices.Sort(found.Members)
	return found, answer.Groups[0].Error
}

func (it *client) DeleteGroup(group string) error {
	answer, err := it.admin.DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: []string{group}})
	if err != nil {
		return err
	}
	return answer.Errors[group]
}
