// One of Go's Kafka clients under test: one JSON request a line on standard input, one JSON answer a line on standard output.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"klamm/clients/franz"
	"klamm/clients/sarama"
	"klamm/clients/segmentio"
	"klamm/clients/verb"
)

var clients = map[string]func(bootstrap string) verb.Client{
	"franz-go": franz.New,
	"sarama":   sarama.New,
	"kafka-go": segmentio.New,
}

func main() {
	verbs := verb.Of(clients[os.Args[1]](os.Args[2]))
	requests := bufio.NewScanner(os.Stdin)
	requests.Buffer(nil, 1<<20)
	for requests.Scan() {
		line, err := json.Marshal(answer(verbs, requests.Bytes()))
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}
}

func answer(verbs map[string]verb.Verb, line []byte) map[string]any {
	request := verb.Request{Codec: "none", Acks: -1}
	if err := json.Unmarshal(line, &request); err != nil {
		return map[string]any{"error": err.Error()}
	}
	do, known := verbs[request.Do]
	if !known {
		return map[string]any{"error": "no verb " + request.Do}
	}
	found, err := do(request)
	var cannot verb.Cannot
	switch {
	case errors.As(err, &cannot):
		return map[string]any{"cannot": string(cannot)}
	case err != nil:
		fmt.Fprintln(os.Stderr, request.Do, err)
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"ok": found}
}
