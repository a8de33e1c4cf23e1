package main

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
)

// dcgmCounters reads a counters file by Go's reader of CSV, with the settings and rules of ReadCSVFile and
// ExtractCounters in internal/pkg/counters of the DCGM exporter (which needs C to build). Which fields there are,
// it does not know.
func dcgmCounters(asked request) (*understanding, error) {
	reader := csv.NewReader(strings.NewReader(asked.Text))
	reader.Comment = '#'
	records, err := reader.ReadAll()
	if err != nil {
		return nil, err
	}
	for _, record := range records {
		if len(record) != 3 {
			return nil, fmt.Errorf("%q: expected 3 fields", record)
		}
		for column := range record {
			record[column] = strings.Trim(record[column], " ")
		}
		if !slices.Contains([]string{"gauge", "counter", "histogram", "summary", "label"}, record[1]) {
			return nil, fmt.Errorf("%q: no such type of metric", record[1])
		}
	}
	return &understanding{Config: records, Ignored: []string{}, Warnings: []string{}}, nil
}
