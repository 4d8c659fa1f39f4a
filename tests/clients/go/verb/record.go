package verb

import (
	"bufio"
	"encoding/json"
	"os"
)

// Record is a line of a file of records; `../suite/records.py` tells the fields. A nil key or value is Kafka's null.
type Record struct {
	Key       []byte   `json:"k"`
	Value     []byte   `json:"v"`
	Headers   []Header `json:"h,omitempty"`
	TimeMs    *int64   `json:"t,omitempty"`
	Partition *int32   `json:"p,omitempty"`
	Offset    *int64   `json:"o,omitempty"`
}

// Header is written as a pair.
type Header struct {
	Name  string
	Value []byte
}

func (header Header) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{header.Name, header.Value})
}

func (header *Header) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&header.Name, &header.Value})
}

func readRecords(file string) ([]Record, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var records []Record
	for lines := json.NewDecoder(bufio.NewReader(in)); lines.More(); {
		var record Record
		if err := lines.Decode(&record); err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, nil
}

func writeRecords(file string, records []Record) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	buffered := bufio.NewWriter(out)
	for lines := json.NewEncoder(buffered); len(records) > 0; records = records[1:] {
		if err := lines.Encode(records[0]); err != nil {
			return err
		}
	}
	return buffered.Flush()
}
