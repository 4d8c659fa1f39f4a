package sarama

import (
	"context"
	"time"

	"github.com/IBM/sarama"
	"klamm/clients/verb"
)

func (it *client) NextOfGroup(request verb.Request) ([]verb.Record, error) {
	group, err := sarama.NewConsumerGroup(it.bootstrap, request.Group, settings())
	if err != nil {
		return nil, err
	}
	defer group.Close()
	turn := &turn{found: make(chan *sarama.ConsumerMessage), done: make(chan struct{})}
	ended := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), verb.Patience)
	defer cancel()
	go func() { ended <- group.Consume(ctx, []string{request.Topic}, turn) }()
	found, err := verb.Next(turn.next).Exactly(request.Count)
	close(turn.done)
	if err != nil {
		return nil, err
	}
	return found, <-ended
}

// turn is one session of a group that hands its messages over one by one, and commits behind those that were taken.
type turn struct {
	found chan *sarama.ConsumerMessage
	done  chan struct{}
}

func (it *turn) next(ctx context.Context) (verb.Record, error) {
	select {
	case message := <-it.found:
		return incoming(message), nil
	case <-ctx.Done():
		return verb.Record{}, ctx.Err()
	}
}

func (it *turn) Setup(sarama.ConsumerGroupSession) error { return nil }

func (it *turn) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, more := <-claim.Messages():
			if !more {
				return nil
			}
			select {
			case it.found <- message:
				session.MarkMessage(message, "")
			case <-it.done:
				return nil
			}
		case <-it.done:
			return nil
		}
	}
}

func (it *turn) Cleanup(session sarama.ConsumerGroupSession) error {
	session.Commit()
	return nil
}

var strategies = map[string]func() sarama.BalanceStrategy{
	"range":      sarama.NewBalanceStrategyRange,
	"roundrobin": sarama.NewBalanceStrategyRoundRobin,
	"sticky":     sarama.NewBalanceStrategySticky,
}

func (it *client) Join(request verb.Request, member *verb.Member) (func() error, error) {
	config := settings()
	config.ClientID = request.Member
	config.Consumer.Group.Session.Timeout = 10 * time.Second
	config.Consumer.Group.Heartbeat.Interval = 300 * time.Millisecond
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategies[request.Assignor]()}
	group, err := sarama.NewConsumerGroup(it.bootstrap, request.Group, config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for ctx.Err() == nil {
			if err := group.Consume(ctx, request.Topics, &watcher{member}); err != nil {
				sarama.Logger.Println(request.Member, err)
			}
		}
	}()
	return func() error {
		cancel()
		return group.Close()
	}, nil
}

// watcher notes what a member is given, and reads on.
type watcher struct{ member *verb.Member }

func (it *watcher) Setup(session sarama.ConsumerGroupSession) error {
	it.member.Assigned(verb.Places(session.Claims()))
	return nil
}

func (it *watcher) ConsumeClaim(_ sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for range claim.Messages() {
	}
	return nil
}

func (it *watcher) Cleanup(session sarama.ConsumerGroupSession) error {
	it.member.Revoked(verb.Places(session.Claims()))
	return nil
}
