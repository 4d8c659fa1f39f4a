// Package franz is franz-go, with kadm for an operator's part.
package franz

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"klamm/clients/verb"
)

type client struct {
	bootstrap string
	admin     *kadm.Client
	producers map[string]*kgo.Client
}

// New talks to the broker at `bootstrap`.
func New(bootstrap string) verb.Client {
	it := &client{bootstrap: bootstrap, producers: map[string]*kgo.Client{}}
	it.admin = kadm.NewClient(it.open())
	return it
}

func (it *client) open(options ...kgo.Opt) *kgo.Client {
	// What the broker does not say is not guessed: a bad option is a mistake here.
	opened, err := kgo.NewClient(append(options, kgo.SeedBrokers(it.bootstrap), kgo.MetadataMaxAge(time.Second),
		kgo.MetadataMinAge(200*time.Millisecond), kgo.FetchMaxWait(100*time.Millisecond))...)
	if err != nil {
		panic(err)
	}
	return opened
}

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

func (it *client) Produce(request verb.Request, records []verb.Record) ([]string, error) {
	producer := it.producer(request, len(records) > 0 && records[0].Partition != nil)
	ctx, cancel := context.WithTimeout(context.Background(), 2*verb.Patience)
	defer cancel()
	errors := make(chan string, len(records))
	for _, record := range records {
		producer.Produce(ctx, outgoing(request.Topic, record), func(_ *kgo.Record, err error) {
			if err != nil {
				errors <- err.Error()
			}
		})
	}
	err := producer.Flush(ctx)
	close(errors)
	var failed []string
	for text := range errors {
		failed = append(failed, text)
	}
	return failed, err
}

// A producer whose records name their partitions has another partitioner.
func (it *client) producer(request verb.Request, manual bool) *kgo.Client {
	key := fmt.Sprint(request.Producer, request.Codec, request.Acks, request.Idempotent, manual)
	if it.producers[key] == nil {
		options := []kgo.Opt{kgo.ProducerBatchCompression(codecs[request.Codec]), kgo.ProducerLinger(50 * time.Millisecond),
			kgo.ProducerBatchMaxBytes(4_000_000)}
		if request.Acks != -1 {
			options = append(options, kgo.RequiredAcks(map[int]kgo.Acks{0: kgo.NoAck(), 1: kgo.LeaderAck()}[request.Acks]))
		}
		if !request.Idempotent {
			options = append(options, kgo.DisableIdempotentWrite())
		}
		if manual {
			options = append(options, kgo.RecordPartitioner(kgo.ManualPartitioner()))
		}
		it.producers[key] = it.open(options...)
	}
	return it.producers[key]
}

func outgoing(topic string, record verb.Record) *kgo.Record {
	sent := &kgo.Record{Topic: topic, Key: record.Key, Value: record.Value}
	if record.TimeMs != nil {
		sent.Timestamp = time.UnixMilli(*record.TimeMs)
	}
	if record.Partition != nil {
		sent.Partition = *record.Partition
	}
	for _, header := range record.Headers {
		sent.Headers = append(sent.Headers, kgo.RecordHeader{Key: header.Name, Value: header.Value})
	}
	return sent
}

func incoming(record *kgo.Record) verb.Record {
	timeMs := record.Timestamp.UnixMilli()
	found := verb.Record{Key: record.Key, Value: record.Value, TimeMs: &timeMs, Partition: &record.Partition, Offset: &record.Offset}
	for _, header := range record.Headers {
		found.Headers = append(found.Headers, verb.Header{Name: header.Key, Value: header.Value})
	}
	return found
}
