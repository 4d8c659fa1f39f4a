package segmentio

import (
	"context"
	"time"

	"github.com/segmentio/kafka-go"
	"klamm/clients/verb"
)

// A reader is of one partition.
func (it *client) reader(topic string, partition int32) *kafka.Reader {
	return kafka.NewReader(kafka.ReaderConfig{Brokers: []string{it.bootstrap}, Topic: topic, Partition: int(partition), MinBytes: 1,
		MaxBytes: 4_000_000, MaxWait: 100 * time.Millisecond, ErrorLogger: complaints})
}

func (it *client) Consume(request verb.Request) ([]verb.Record, error) {
	starts := request.Offsets
	if starts == nil {
		var err error
		if starts, err = it.Offsets(request.Topic, kafka.FirstOffset); err != nil {
			return nil, err
		}
	}
	all := &readers{found: make(chan kafka.Message)}
	defer all.close()
	for partition, offset := range starts {
		reader := it.reader(request.Topic, partition)
		if err := place(reader, offset, request.Time); err != nil {
			return nil, err
		}
		all.add(reader)
	}
	return verb.Next(all.next).AndNoMore(request.Count)
}

func place(reader *kafka.Reader, offset int64, timeMs *int64) error {
	if timeMs != nil {
		return reader.SetOffsetAt(context.Background(), time.UnixMilli(*timeMs))
	}
	return reader.SetOffset(offset)
}

// readers brings the messages of several partitions together.
type readers struct {
	each  []*kafka.Reader
	found chan kafka.Message
}

func (all *readers) add(reader *kafka.Reader) {
	all.each = append(all.each, reader)
	go func() {
		for {
			message, err := reader.ReadMessage(context.Background())
			if err != nil {
				return
			}
			all.found <- message
		}
	}()
}

func (all *readers) next(ctx context.Context) (verb.Record, error) {
	select {
	case message := <-all.found:
		return incoming(message), nil
	case <-ctx.Done():
		return verb.Record{}, ctx.Err()
	}
}

// close drops what was fetched and not read.
func (all *readers) close() {
	go func() {
		for range all.found {
		}
	}()
	for _, reader := range all.each {
		reader.Close()
	}
}

func one(reader *kafka.Reader) verb.Next {
	return func(ctx context.Context) (verb.Record, error) {
		message, err := reader.FetchMessage(ctx)
		return incoming(message), err
	}
}

func (it *client) Seek(request verb.Request) ([]verb.Record, error) {
	reader := it.reader(request.Topic, 0)
	defer reader.Close()
	found, err := one(reader).Exactly(request.First)
	if err != nil {
		return nil, err
	}
	if err := reader.SetOffset(request.To); err != nil {
		return nil, err
	}
	rest, err := one(reader).Exactly(request.Count)
	return append(found, rest...), err
}

func (it *client) Pause(verb.Request) ([]verb.Record, error) {
	return nil, verb.Cannot("pauses no partition")
}
