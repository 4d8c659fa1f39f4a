package verb

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// Patience is how long a client may take for one thing.
	Patience = 60 * time.Second
	// Moment is how long to wait for what should not come.
	Moment = 500 * time.Millisecond
)

// Next waits for the next record.
type Next func(context.Context) (Record, error)

// Exactly reads `count` records.
func (next Next) Exactly(count int) ([]Record, error) {
	found, err := next.within(count, Patience)
	if err == nil && len(found) < count {
		err = fmt.Errorf("%d records instead of %d after %v", len(found), count, Patience)
	}
	return found, err
}

// AndNoMore reads `count` records, and what comes within a moment after them, which would be too many.
func (next Next) AndNoMore(count int) ([]Record, error) {
	found, err := next.Exactly(count)
	if err != nil {
		return nil, err
	}
	more, err := next.within(1, Moment)
	return append(found, more...), err
}

func (next Next) within(count int, limit time.Duration) ([]Record, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var found []Record
	for len(found) < count {
		record, err := next(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		found = append(found, record)
	}
	return found, nil
}

// Paused reads `count` records of each of two partitions, of which one is paused until those of the other are there and a
// moment has passed.
func (next Next) Paused(count int, resume func()) ([]Record, error) {
	found, err := next.AndNoMore(count)
	if err != nil {
		return nil, err
	}
	resume()
	rest, err := next.Exactly(2*count - len(found))
	return append(found, rest...), err
}
