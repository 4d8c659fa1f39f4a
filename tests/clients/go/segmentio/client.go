// Package segmentio is segmentio's kafka-go.
package segmentio

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
	"klamm/clients/verb"
)

type client struct {
	bootstrap string
	admin     *kafka.Client
	writers   map[string]*kafka.Writer
}

var complaints = log.New(os.Stderr, "", log.LstdFlags)

// New talks to the broker at `bootstrap`.
func New(bootstrap string) verb.Client {
	// It refreshes its metadata after this time, and gives up a refresh after it.
	transport := &kafka.Transport{MetadataTTL: time.Second}
	admin := &kafka.Client{Addr: kafka.TCP(bootstrap), Timeout: verb.Patience, Transport: transport}
	return &client{bootstrap: bootstrap, admin: admin, writers: map[string]*kafka.Writer{}}
}

var codecs = map[string]kafka.Compression{
	"gzip":   kafka.Gzip,
	"snappy": kafka.Snappy,
	"lz4":    kafka.Lz4,
	"zstd":   kafka.Zstd,
}

func (it *client) Produce(request verb.Request, records []verb.Record) ([]string, error) {
	if request.Idempotent {
		return nil, verb.Cannot("has no idempotent producer")
	}
	if _, err := it.partitions(request.Topic); err != nil {
		return nil, err
	}
	var messages []kafka.Message
	for _, record := range records {
		messages = append(messages, outgoing(record))
	}
	err := it.writer(request, len(records) > 0 && records[0].Partition != nil).WriteMessages(context.Background(), messages...)
	var refused kafka.WriteErrors
	if !errors.As(err, &refused) {
		return nil, err
	}
	var failed []string
	for _, one := range refused {
		if one != nil {
			failed = append(failed, one.Error())
		}
	}
	return failed, nil
}

// A writer is of one topic; one whose records name their partitions has another balancer.
func (it *client) writer(request verb.Request, manual bool) *kafka.Writer {
	key := fmt.Sprint(request.Topic, request.Codec, request.Acks, manual)
	if it.writers[key] == nil {
		writer := &kafka.Writer{Addr: kafka.TCP(it.bootstrap), Topic: request.Topic, Balancer: &kafka.Hash{}, BatchSize: 10_000,
			BatchBytes: 4_000_000, BatchTimeout: 50 * time.Millisecond, RequiredAcks: kafka.RequiredAcks(request.Acks),
			Compression: codecs[request.Codec], MaxAttempts: 30, ErrorLogger: complaints, Transport: it.admin.Transport}
		if manual {
			writer.Balancer = kafka.BalancerFunc(func(message kafka.Message, _ ...int) int { return message.Partition })
		}
		it.writers[key] = writer
	}
	return it.writers[key]
}

func outgoing(record verb.Record) kafka.Message {
	sent := kafka.Message{Key: record.Key, Value: record.Value}
	if record.TimeMs != nil {
		sent.Time = time.UnixMilli(*record.TimeMs)
	}
	if record.Partition != nil {
		sent.Partition = int(*record.Partition)
	}
	for _, header := range record.Headers {
		sent.Headers = append(sent.Headers, kafka.Header{Key: header.Name, Value: header.Value})
	}
	return sent
}

func incoming(message kafka.Message) verb.Record {
	timeMs, partition := message.Time.UnixMilli(), int32(message.Partition)
	found := verb.Record{Key: message.Key, Value: message.Value, TimeMs: &timeMs, Partition: &partition, Offset: &message.Offset}
	for _, header := range message.Headers {
		found.Headers = append(found.Headers, verb.Header{Name: header.Key, Value: header.Value})
	}
	return found
}
