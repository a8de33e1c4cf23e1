// Reads configurations with the parsers of the programs that they are written for.
//
// Each line on stdin is a request, each line on stdout the answer to one, in the same order. Tests ask it what the
// programs would make of the files that we render: whether they refuse them, and what they understand.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// A request names the parser, and carries the text of a configuration and what else decides how it is read.
type request struct {
	Parser      string            `json:"parser"`
	Text        string            `json:"text"`
	Environment map[string]string `json:"environment"` // of the container: the device plugin prefers it to the file
}

// An answer holds either why the program would refuse the configuration, or what it understands.
type answer struct {
	Error string         `json:"error,omitempty"`
	Value *understanding `json:"value,omitempty"`
}

// An understanding is a configuration as the program sees it.
type understanding struct {
	Config   any      `json:"config"`
	Ignored  []string `json:"ignored"`  // places of the text that left no trace in what was understood
	Warnings []string `json:"warnings"` // what the program would log
}

var parsers = map[string]func(request) (*understanding, error){
	"dcgm-counters":     dcgmCounters,
	"device-plugin":     devicePlugin,
	"grafana-dashboard": grafanaDashboard,
	"nfd-worker":        nfdWorker,
	"rdma-shared":       rdmaShared,
	"volcano-scheduler": volcanoScheduler,
}

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	out := json.NewEncoder(os.Stdout)
	// Upstream code prints to stdout, too.
	os.Stdout = os.Stderr
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		if err := out.Encode(read(asked)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func read(asked request) (found answer) {
	parser, known := parsers[asked.Parser]
	if !known {
		found.Error = "no such parser: " + asked.Parser
		return
	}
	defer func() {
		if fault := recover(); fault != nil {
			found.Value, found.Error = nil, fmt.Sprint("panic: ", fault)
		}
	}()
	value, err := parser(asked)
	if err != nil {
		found.Error = err.Error()
		return
	}
	found.Value = value
	return
}
