// Package sarama is IBM's sarama.
package sarama

import (
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/IBM/sarama"
	"klamm/clients/verb"
)

type client struct {
	bootstrap []string
	core      sarama.Client
	admin     sarama.ClusterAdmin
	producers map[string]sarama.SyncProducer
}

// New talks to the broker at `bootstrap`.
func New(bootstrap string) verb.Client {
	sarama.Logger = log.New(os.Stderr, "", log.LstdFlags)
	it := &client{bootstrap: []string{bootstrap}, producers: map[string]sarama.SyncProducer{}}
	it.core = must(sarama.NewClient(it.bootstrap, settings()))
	it.admin = must(sarama.NewClusterAdminFromClient(it.core))
	return it
}

// Without a broker, or with a setting that is none, there is nothing to answer.
func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

func settings() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.ClientID = "sarama"
	config.Metadata.RefreshFrequency = time.Second
	config.Consumer.MaxWaitTime = 100 * time.Millisecond
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	return config
}

var codecs = map[string]sarama.CompressionCodec{
	"none":   sarama.CompressionNone,
	"gzip":   sarama.CompressionGZIP,
	"snappy": sarama.CompressionSnappy,
	"lz4":    sarama.CompressionLZ4,
	"zstd":   sarama.CompressionZSTD,
}

func (it *client) Produce(request verb.Request, records []verb.Record) ([]string, error) {
	producer, err := it.producer(request, len(records) > 0 && records[0].Partition != nil)
	if err != nil {
		return nil, err
	}
	var messages []*sarama.ProducerMessage
	for _, record := range records {
		messages = append(messages, outgoing(request.Topic, record))
	}
	err = producer.SendMessages(messages)
	var refused sarama.ProducerErrors
	if !errors.As(err, &refused) {
		return nil, err
	}
	var failed []string
	for _, one := range refused {
		failed = append(failed, one.Error())
	}
	return failed, nil
}

// A producer whose records name their partitions has another partitioner.
func (it *client) producer(request verb.Request, manual bool) (sarama.SyncProducer, error) {
	key := fmt.Sprint(request.Producer, request.Codec, request.Acks, request.Idempotent, manual)
	if producer := it.producers[key]; producer != nil {
		return producer, nil
	}
	config := settings()
	// Otherwise what is sent again may come behind what was sent later.
	config.Net.MaxOpenRequests = 1
	config.Producer.Idempotent = request.Idempotent
	config.Producer.RequiredAcks = sarama.RequiredAcks(request.Acks)
	config.Producer.Compression = codecs[request.Codec]
	config.Producer.MaxMessageBytes = 4_000_000
	config.Producer.Flush.Frequency = 50 * time.Millisecond
	config.Producer.Retry.Max = 30
	config.Producer.Return.Successes = true
	if manual {
		config.Producer.Partitioner = sarama.NewManualPartitioner
	}
	producer, err := sarama.NewSyncProducer(it.bootstrap, config)
	if err == nil {
		it.producers[key] = producer
	}
	return producer, err
}

func outgoing(topic string, record verb.Record) *sarama.ProducerMessage {
	sent := &sarama.ProducerMessage{Topic: topic, Key: encoder(record.Key), Value: encoder(record.Value)}
	if record.TimeMs != nil {
		sent.Timestamp = time.UnixMilli(*record.TimeMs)
	}
	if record.Partition != nil {
		sent.Partition = *record.Partition
	}
	for _, header := range record.Headers {
		sent.Headers = append(sent.Headers, sarama.RecordHeader{Key: []byte(header.Name), Value: header.Value})
	}
	return sent
}

// encoder of nothing is nil, which is null; that of no bytes is empty.
func encoder(bytes []byte) sarama.Encoder {
	if bytes == nil {
		return nil
	}
	return sarama.ByteEncoder(bytes)
}

func incoming(message *sarama.ConsumerMessage) verb.Record {
	timeMs := message.Timestamp.UnixMilli()
	found := verb.Record{Key: message.Key, Value: message.Value, TimeMs: &timeMs, Partition: &message.Partition,
		Offset: &message.Offset}
	for _, header := range message.Headers {
		found.Headers = append(found.Headers, verb.Header{Name: string(header.Key), Value: header.Value})
	}
	return found
}
