package franz

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"klamm/clients/verb"
)

var ctx = context.Background()

func (it *client) Create(request verb.Request) error {
	configs := map[string]*string{}
	for name, value := range request.Configs {
		configs[name] = &value
	}
	_, err := it.admin.CreateTopic(ctx, request.Partitions, 1, configs, request.Topic)
	return err
}

func (it *client) Grow(request verb.Request) error {
	grown, err := it.admin.UpdatePartitions(ctx, int(request.Partitions), request.Topic)
	if err != nil {
		return err
	}
	return grown.Error()
}

func (it *client) Delete(topic string) error {
	_, err := it.admin.DeleteTopic(ctx, topic)
	return err
}

func (it *client) Alter(request verb.Request) error {
	var configs []kadm.AlterConfig
	for name, value := range request.Configs {
		configs = append(configs, kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: &value})
	}
	altered, err := it.admin.AlterTopicConfigs(ctx, configs, request.Topic)
	if err != nil {
		return err
	}
	_, err = altered.On(request.Topic, func(answer *kadm.AlterConfigsResponse) error { return answer.Err })
	return err
}

func (it *client) Describe(topic string) (verb.Topic, error) {
	partitions, err := it.partitions(topic)
	if err != nil {
		return verb.Topic{}, err
	}
	described, err := it.admin.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return verb.Topic{}, err
	}
	found := verb.Topic{Partitions: len(partitions), Configs: map[string]string{}}
	_, err = described.On(topic, func(resource *kadm.ResourceConfig) error {
		for _, config := range resource.Configs {
			found.Configs[config.Key] = config.MaybeValue()
		}
		return resource.Err
	})
	return found, err
}

func (it *client) partitions(topic string) ([]int32, error) {
	listed, err := it.admin.ListTopics(ctx, topic)
	if err != nil {
		return nil, err
	}
	return listed[topic].Partitions.Numbers(), listed.Error()
}

func (it *client) Topics() ([]string, error) {
	listed, err := it.admin.ListTopics(ctx)
	return listed.Names(), err
}

func (it *client) Offsets(topic string, time int64) (map[int32]int64, error) {
	var listed kadm.ListedOffsets
	var err error
	switch time {
	case -2:
		listed, err = it.admin.ListStartOffsets(ctx, topic)
	case -1:
		listed, err = it.admin.ListEndOffsets(ctx, topic)
	default:
		listed, err = it.admin.ListOffsetsAfterMilli(ctx, time, topic)
	}
	if err != nil {
		return nil, err
	}
	found := map[int32]int64{}
	listed.Each(func(offset kadm.ListedOffset) { found[offset.Partition] = offset.Offset })
	return found, listed.Error()
}

func (it *client) DeleteRecords(topic string, before map[int32]int64) error {
	offsets := kadm.Offsets{}
	for partition, offset := range before {
		offsets.AddOffset(topic, partition, offset, -1)
	}
	deleted, err := it.admin.DeleteRecords(ctx, offsets)
	if err != nil {
		return err
	}
	return deleted.Error()
}

func (it *client) Committed(group, topic string) (map[int32]int64, error) {
	committed, err := it.admin.FetchOffsets(ctx, group)
	if err != nil {
		return nil, err
	}
	found := map[int32]int64{}
	for partition, offset := range committed[topic] {
		found[partition] = offset.At
	}
	return found, committed.Error()
}

func (it *client) Groups() ([]string, error) {
	listed, err := it.admin.ListGroups(ctx)
	return listed.Groups(), err
}

func (it *client) DescribeGroup(group string) (verb.Group, error) {
	described, err := it.admin.DescribeGroups(ctx, group)
	if err != nil {
		return verb.Group{}, err
	}
	found := verb.Group{State: described[group].State, Members: []string{}}
	for _, member := range described[group].Members {
		found.Members = append(found.Members, member.ClientID)
	}
	slices.Sort(found.Members)
	return found, described.Error()
}

func (it *client) DeleteGroup(group string) error {
	_, err := it.admin.DeleteGroup(ctx, group)
	return err
}
