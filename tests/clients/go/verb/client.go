// Package verb is what every client here is asked, whichever library it is.
package verb

import "slices"

// Request has the arguments of all verbs; each uses some. Time is -2 for the earliest offset, -1 for the latest.
type Request struct {
	Do         string            `json:"do"`
	Topic      string            `json:"topic"`
	Topics     []string          `json:"topics"`
	Partitions int32             `json:"partitions"`
	Configs    map[string]string `json:"configs"`
	File       string            `json:"file"`
	Codec      string            `json:"codec"`
	Acks       int               `json:"acks"`
	Idempotent bool              `json:"idempotent"`
	Producer   string            `json:"producer"`
	Offsets    map[int32]int64   `json:"offsets"`
	Time       *int64            `json:"time"`
	Group      string            `json:"group"`
	Count      int               `json:"count"`
	First      int               `json:"first"`
	To         int64             `json:"to"`
	Member     string            `json:"member"`
	Assignor   string            `json:"assignor"`
	// Protocol is "consumer" for groups of KIP-848, Regex then stands for Topics, and Instance makes a static member.
	Protocol string `json:"protocol"`
	Instance string `json:"instance"`
	Regex    string `json:"regex"`
}

// Client does what the verbs say. Of a topic without Offsets and Time, Consume reads all partitions from their beginnings.
type Client interface {
	Produce(request Request, records []Record) (errors []string, err error)
	Consume(request Request) ([]Record, error)
	// NextOfGroup reads Count records as a member, and commits behind them.
	NextOfGroup(request Request) ([]Record, error)
	// Seek reads First records of partition 0, seeks to offset To, and reads Count more.
	Seek(request Request) ([]Record, error)
	// Pause reads Count records of each of partitions 0 and 1, of which 1 is paused until those of 0 are there and a moment has
	// passed.
	Pause(request Request) ([]Record, error)
	Join(request Request, member *Member) (leave func() error, err error)

	Create(request Request) error
	Grow(request Request) error
	Delete(topic string) error
	Alter(request Request) error
	Describe(topic string) (Topic, error)
	Topics() ([]string, error)
	Offsets(topic string, time int64) (map[int32]int64, error)
	DeleteRecords(topic string, before map[int32]int64) error

	Committed(group, topic string) (map[int32]int64, error)
	Groups() ([]string, error)
	DescribeGroup(group string) (Group, error)
	DeleteGroup(group string) error
}

type Topic struct {
	Partitions int               `json:"partitions"`
	Configs    map[string]string `json:"configs"`
}

// Group tells members by their client ids.
type Group struct {
	State   string   `json:"state"`
	Members []string `json:"members"`
}

// Cannot says what a library lacks to do a thing.
type Cannot string

func (cannot Cannot) Error() string { return string(cannot) }

// Verb answers a request.
type Verb func(Request) (any, error)

// Of is every verb, by its name in a request.
func Of(client Client) map[string]Verb {
	members := members{}
	return map[string]Verb{
		"produce":        func(it Request) (any, error) { return produce(client, it) },
		"consume":        func(it Request) (any, error) { return consume(client, it) },
		"seek":           func(it Request) (any, error) { return nil, write(it, client.Seek) },
		"pause":          func(it Request) (any, error) { return nil, write(it, client.Pause) },
		"join":           func(it Request) (any, error) { return nil, members.join(client, it) },
		"assignment":     func(it Request) (any, error) { return members[it.Member].state(), nil },
		"leave":          func(it Request) (any, error) { return members.leave(it.Member) },
		"create":         func(it Request) (any, error) { return nil, client.Create(it) },
		"grow":           func(it Request) (any, error) { return nil, client.Grow(it) },
		"delete":         func(it Request) (any, error) { return nil, client.Delete(it.Topic) },
		"alter":          func(it Request) (any, error) { return nil, client.Alter(it) },
		"describe":       func(it Request) (any, error) { return client.Describe(it.Topic) },
		"topics":         func(it Request) (any, error) { return sorted(client.Topics()) },
		"offsets":        func(it Request) (any, error) { return client.Offsets(it.Topic, *it.Time) },
		"delete_records": func(it Request) (any, error) { return nil, client.DeleteRecords(it.Topic, it.Offsets) },
		"committed":      func(it Request) (any, error) { return client.Committed(it.Group, it.Topic) },
		"groups":         func(it Request) (any, error) { return sorted(client.Groups()) },
		"describe_group": func(it Request) (any, error) { return client.DescribeGroup(it.Group) },
		"delete_group":   func(it Request) (any, error) { return nil, client.DeleteGroup(it.Group) },
	}
}

func produce(client Client, request Request) (any, error) {
	records, err := readRecords(request.File)
	if err != nil {
		return nil, err
	}
	failed, err := client.Produce(request, records)
	return map[string]any{"errors": list(failed[:min(5, len(failed))])}, err
}

func consume(client Client, request Request) (any, error) {
	if request.Group != "" {
		return nil, write(request, client.NextOfGroup)
	}
	return nil, write(request, client.Consume)
}

func write(request Request, read func(Request) ([]Record, error)) error {
	found, err := read(request)
	if err != nil {
		return err
	}
	return writeRecords(request.File, found)
}

func sorted(names []string, err error) ([]string, error) {
	slices.Sort(names)
	return list(names), err
}

// list is never null in JSON.
func list(texts []string) []string { return append([]string{}, texts...) }
