package main

import (
	"gopkg.in/yaml.v2"
	k8syaml "sigs.k8s.io/yaml"
	"volcano.sh/volcano/pkg/scheduler/conf"
)

// volcanoScheduler reads the configuration of Volcano's scheduler. Which actions and plugins there are, it does not know.
func volcanoScheduler(asked request) (*understanding, error) {
	config := &conf.SchedulerConfiguration{}
	if err := yaml.Unmarshal([]byte(asked.Text), config); err != nil {
		return nil, err
	}
	// Its fields are named for YAML alone.
	written, err := yaml.Marshal(config)
	if err != nil {
		return nil, err
	}
	var kept any
	if err := k8syaml.Unmarshal(written, &kept); err != nil {
		return nil, err
	}
	return understood(asked.Text, kept, "")
}
