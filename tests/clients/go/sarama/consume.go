package sarama

import (
	"context"

	"github.com/IBM/sarama"
	"klamm/clients/verb"
)

func (it *client) Consume(request verb.Request) ([]verb.Record, error) {
	starts, err := it.starts(request)
	if err != nil {
		return nil, err
	}
	reader, err := it.reader()
	if err != nil {
		return nil, err
	}
	defer reader.close()
	for partition, offset := range starts {
		if err := reader.add(request.Topic, partition, offset); err != nil {
			return nil, err
		}
	}
	return verb.Next(reader.next).AndNoMore(request.Count)
}

func (it *client) starts(request verb.Request) (map[int32]int64, error) {
	switch {
	case request.Offsets != nil:
		return request.Offsets, nil
	case request.Time != nil:
		return it.Offsets(request.Topic, *request.Time)
	default:
		return it.Offsets(request.Topic, sarama.OffsetOldest)
	}
}

// reader brings the messages of several partitions together.
type reader struct {
	consumer   sarama.Consumer
	partitions []sarama.PartitionConsumer
	found      chan *sarama.ConsumerMessage
}

func (it *client) reader() (*reader, error) {
	consumer, err := sarama.NewConsumer(it.bootstrap, settings())
	return &reader{consumer: consumer, found: make(chan *sarama.ConsumerMessage)}, err
}

func (it *reader) add(topic string, partition int32, offset int64) error {
	added, err := it.consumer.ConsumePartition(topic, partition, offset)
	if err != nil {
		return err
	}
	it.partitions = append(it.partitions, added)
	go func() {
		for message := range added.Messages() {
			it.found <- message
		}
	}()
	return nil
}

func (it *reader) next(ctx context.Context) (verb.Record, error) {
	select {
	case message := <-it.found:
		return incoming(message), nil
	case <-ctx.Done():
		return verb.Record{}, ctx.Err()
	}
}

// close drops what was fetched and not read.
func (it *reader) close() {
	go func() {
		for range it.found {
		}
	}()
	for _, partition := range it.partitions {
		partition.Close()
	}
	it.consumer.Close()
}

// Seek is, in sarama, another consumer of the partition.
func (it *client) Seek(request verb.Request) ([]verb.Record, error) {
	var found []verb.Record
	for _, part := range []struct {
		offset int64
		count  int
	}{{0, request.First}, {request.To, request.Count}} {
		read, err := it.part(request.Topic, part.offset, part.count)
		if err != nil {
			return nil, err
		}
		found = append(found, read...)
	}
	return found, nil
}

func (it *client) part(topic string, offset int64, count int) ([]verb.Record, error) {
	reader, err := it.reader()
	if err != nil {
		return nil, err
	}
	defer reader.close()
	if err := reader.add(topic, 0, offset); err != nil {
		return nil, err
	}
	return verb.Next(reader.next).Exactly(count)
}

func (it *client) Pause(request verb.Request) ([]verb.Record, error) {
	reader, err := it.reader()
	if err != nil {
		return nil, err
	}
	defer reader.close()
	for partition := range int32(2) {
		if err := reader.add(request.Topic, partition, 0); err != nil {
			return nil, err
		}
	}
	paused := map[string][]int32{request.Topic: {1}}
	reader.consumer.Pause(paused)
	return verb.Next(reader.next).Paused(request.Count, func() { reader.consumer.Resume(paused) })
}
