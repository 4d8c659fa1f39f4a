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
	reader := it.open(kgo.ConsumerGroup(request.Group), kgo.ConsumeTopics(request.Topics...), kgo.ClientID(request.Member),
		kgo.Balancers(balancers[request.Assignor]), kgo.SessionTimeout(10*time.Second), kgo.HeartbeatInterval(300*time.Millisecond),
		kgo.DisableAutoCommit(), kgo.OnPartitionsAssigned(given), kgo.OnPartitionsRevoked(taken), kgo.OnPartitionsLost(taken))
	go func() {
		for !reader.PollFetches(context.Background()).IsClientClosed() {
		}
	}()
	return func() error {
		reader.Close()
		return nil
	}, nil
}
