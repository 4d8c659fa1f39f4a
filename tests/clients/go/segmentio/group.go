package segmentio

import (
	"context"
	"time"

	"github.com/segmentio/kafka-go"
	"klamm/clients/verb"
)

func (it *client) NextOfGroup(request verb.Request) ([]verb.Record, error) {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{it.bootstrap}, GroupID: request.Group, Topic: request.Topic,
		MinBytes: 1, MaxBytes: 4_000_000, MaxWait: 100 * time.Millisecond, StartOffset: kafka.FirstOffset, ErrorLogger: complaints})
	defer reader.Close()
	var taken []kafka.Message
	next := verb.Next(func(ctx context.Context) (verb.Record, error) {
		message, err := reader.FetchMessage(ctx)
		if err == nil {
			taken = append(taken, message)
		}
		return incoming(message), err
	})
	found, err := next.Exactly(request.Count)
	if err != nil {
		return nil, err
	}
	return found, reader.CommitMessages(context.Background(), taken...)
}

var balancers = map[string]kafka.GroupBalancer{"range": kafka.RangeGroupBalancer{}, "roundrobin": kafka.RoundRobinGroupBalancer{}}

func (it *client) Join(request verb.Request, member *verb.Member) (func() error, error) {
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{ID: request.Group, Brokers: []string{it.bootstrap},
		Dialer: &kafka.Dialer{ClientID: request.Member, Timeout: 10 * time.Second}, Topics: request.Topics,
		GroupBalancers:    []kafka.GroupBalancer{balancers[request.Assignor]},
		HeartbeatInterval: 300 * time.Millisecond, SessionTimeout: 10 * time.Second, RebalanceTimeout: 10 * time.Second,
		JoinGroupBackoff: 200 * time.Millisecond, ErrorLogger: complaints})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go watch(ctx, group, member)
	return func() error {
		cancel()
		return group.Close()
	}, nil
}

// watch notes what each generation gives, and lets go of it when the generation ends.
func watch(ctx context.Context, group *kafka.ConsumerGroup, member *verb.Member) {
	for ctx.Err() == nil {
		generation, err := group.Next(ctx)
		if err != nil {
			complaints.Println(err)
			continue
		}
		places := verb.Places(numbers(generation.Assignments))
		generation.Start(func(ended context.Context) {
			member.Assigned(places)
			<-ended.Done()
			member.Revoked(places)
		})
	}
}

func numbers(assignments map[string][]kafka.PartitionAssignment) map[string][]int32 {
	found := map[string][]int32{}
	for topic, partitions := range assignments {
		for _, partition := range partitions {
			found[topic] = append(found[topic], int32(partition.ID))
		}
	}
	return found
}
