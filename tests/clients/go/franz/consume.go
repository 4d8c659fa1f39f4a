package franz

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
	"klamm/clients/verb"
)

func (it *client) Consume(request verb.Request) ([]verb.Record, error) {
	starts := map[int32]kgo.Offset{}
	for partition, offset := range request.Offsets {
		starts[partition] = kgo.NewOffset().At(offset)
	}
	if request.Offsets == nil {
		partitions, err := it.partitions(request.Topic)
		if err != nil {
			return nil, err
		}
		for _, partition := range partitions {
			starts[partition] = kgo.NewOffset().AtStart()
			if request.Time != nil {
				starts[partition] = kgo.NewOffset().AfterMilli(*request.Time)
			}
		}
	}
	reader := it.open(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{request.Topic: starts}))
	defer reader.Close()
	return next(reader).AndNoMore(request.Count)
}

func next(reader *kgo.Client) verb.Next {
	return func(ctx context.Context) (verb.Record, error) {
		for {
			fetched := reader.PollRecords(ctx, 1)
			if err := fetched.Err(); err != nil {
				return verb.Record{}, err
			}
			if records := fetched.Records(); len(records) > 0 {
				return incoming(records[0]), nil
			}
		}
	}
}

func (it *client) NextOfGroup(request verb.Request) ([]verb.Record, error) {
	reader := it.open(kgo.ConsumerGroup(request.Group), kgo.ConsumeTopics(request.Topic), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer reader.Close()
	found, err := next(reader).Exactly(request.Count)
	if err != nil {
		return nil, err
	}
	return found, reader.CommitUncommittedOffsets(context.Background())
}

func (it *client) Seek(request verb.Request) ([]verb.Record, error) {
	reader := it.open(atStart(request.Topic, 0))
	defer reader.Close()
	found, err := next(reader).Exactly(request.First)
	if err != nil {
		return nil, err
	}
	reader.SetOffsets(map[string]map[int32]kgo.EpochOffset{request.Topic: {0: {Epoch: -1, Offset: request.To}}})
	rest, err := next(reader).Exactly(request.Count)
	return append(found, rest...), err
}

func (it *client) Pause(request verb.Request) ([]verb.Record, error) {
	reader := it.open(atStart(request.Topic, 0, 1))
	defer reader.Close()
	paused := map[string][]int32{request.Topic: {1}}
	reader.PauseFetchPartitions(paused)
	return next(reader).Paused(request.Count, func() { reader.ResumeFetchPartitions(paused) })
}

func atStart(topic string, partitions ...int32) kgo.Opt {
	starts := map[int32]kgo.Offset{}
	for _, partition := range partitions {
		starts[partition] = kgo.NewOffset().AtStart()
	}
	return kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: starts})
}
