package franz

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"klamm/clients/verb"
)

var balancers = map[string]kgo.GroupBalancer{
	"range":              kgo.RangeBalancer(),
	"roundrobin":         kgo.RoundRobinBalancer(),
	"sticky":             kgo.StickyBalancer(),
	"cooperative-sticky": kgo.CooperativeStickyBalancer(),
}

func (it *client) Join(request verb.Request, member *verb.Member) (func() error, error) {
	taken := func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
		member.Revoked(verb.Places(partitions))
	}
	given := func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
		member.Assigned(verb.Places(partitions))
	}
	options := append(protocol(request), kgo.ConsumerGroup(request.Group), kgo.ClientID(request.Member),
		kgo.OnPartitionsAssigned(given), kgo.OnPartitionsRevoked(taken), kgo.OnPartitionsLost(taken))
	reader := it.open(options...)
	go poll(reader, member)
	return func() error {
		reader.Close()
		return nil
	}, nil
}

// protocol is what the two protocols of groups do not share. Members of the consumer protocol commit what they have read when they
// give it up.
func protocol(request verb.Request) []kgo.Opt {
	if request.Protocol != "consumer" {
		return []kgo.Opt{kgo.ConsumeTopics(request.Topics...), kgo.Balancers(balancers[request.Assignor]),
			kgo.SessionTimeout(10 * time.Second), kgo.HeartbeatInterval(300 * time.Millisecond), kgo.DisableAutoCommit()}
	}
	// The library names the broker's assignor by one of its own.
	balancer := balancers["sticky"]
	if request.Assignor == "range" {
		balancer = balancers["range"]
	}
	options := []kgo.Opt{kgo.ServerSideBalancer(), kgo.Balancers(balancer)}
	if request.Instance != "" {
		options = append(options, kgo.InstanceID(request.Instance))
	}
	if request.Regex != "" {
		return append(options, kgo.ConsumeRegex(), kgo.ConsumeTopics(request.Regex))
	}
	return append(options, kgo.ConsumeTopics(request.Topics...))
}

func poll(reader *kgo.Client, member *verb.Member) {
	for {
		fetches := reader.PollFetches(context.Background())
		if fetches.IsClientClosed() {
			return
		}
		fetches.EachRecord(func(record *kgo.Record) {
			member.Noted(verb.Read{record.Topic, record.Partition, record.Offset})
		})
	}
}
