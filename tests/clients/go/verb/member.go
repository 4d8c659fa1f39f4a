package verb

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Place is a partition of a topic, written as a pair.
type Place [2]any

// At is partition number `partition` of `topic`.
func At(topic string, partition int32) Place { return Place{topic, partition} }

// Places lists the partitions of an assignment.
func Places(assignment map[string][]int32) []Place {
	var places []Place
	for topic, partitions := range assignment {
		for _, partition := range partitions {
			places = append(places, At(topic, partition))
		}
	}
	slices.SortFunc(places, compare)
	return places
}

func compare(a, b Place) int {
	return cmp.Or(cmp.Compare(a[0].(string), b[0].(string)), cmp.Compare(a[1].(int32), b[1].(int32)))
}

// Read is the place of a record: topic, partition and offset.
type Read [3]any

// Member is what a member of a group owns, and the history of it.
type Member struct {
	lock    sync.Mutex
	owned   []Place
	history [][]any
	read    []Read
	leave   func() error
}

// Assigned is called when partitions are given.
func (member *Member) Assigned(places []Place) {
	member.lock.Lock()
	defer member.lock.Unlock()
	member.note("+", places)
	member.owned = append(member.owned, places...)
	slices.SortFunc(member.owned, compare)
}

// Revoked is called before partitions are let go of.
func (member *Member) Revoked(places []Place) {
	member.lock.Lock()
	defer member.lock.Unlock()
	member.note("-", places)
	member.owned = slices.DeleteFunc(member.owned, func(place Place) bool { return slices.Contains(places, place) })
}

// Noted is called with what was read.
func (member *Member) Noted(read Read) {
	member.lock.Lock()
	defer member.lock.Unlock()
	member.read = append(member.read, read)
}

func (member *Member) note(sign string, places []Place) {
	now := time.Now().UnixMilli()
	for _, place := range places {
		member.history = append(member.history, []any{now, sign, place[0], place[1]})
	}
}

func (member *Member) state() any {
	member.lock.Lock()
	defer member.lock.Unlock()
	return map[string]any{"owned": append([]Place{}, member.owned...), "history": append([][]any{}, member.history...),
		"read": append([]Read{}, member.read...)}
}

type members map[string]*Member

func (all members) join(client Client, request Request) (err error) {
	member := &Member{}
	all[request.Member] = member
	member.leave, err = client.Join(request, member)
	return err
}

func (all members) leave(name string) (any, error) {
	member := all[name]
	delete(all, name)
	err := member.leave()
	member.Revoked(slices.Clone(member.owned))
	return member.state(), err
}
