package main

import (
	"encoding/json"
	"fmt"
	"strings"

	nfdv1alpha1 "sigs.k8s.io/node-feature-discovery/api/nfd/v1alpha1"
	"sigs.k8s.io/node-feature-discovery/pkg/apis/nfd/validate"
	"sigs.k8s.io/node-feature-discovery/source"
	"sigs.k8s.io/node-feature-discovery/source/custom"
	_ "sigs.k8s.io/node-feature-discovery/source/pci"
	"sigs.k8s.io/yaml"
)

// A worker's file, as far as it concerns the sources of features that hold no C: pci and custom.
type workerFile struct {
	Sources map[string]source.Config `json:"sources"`
}

// nfdWorker reads the file of a worker of Node Feature Discovery as its configure() does, and carries out the custom
// rules: what is understood holds the labels that any node gets.
func nfdWorker(asked request) (*understanding, error) {
	var raw struct{ Sources map[string]json.RawMessage }
	if err := yaml.Unmarshal([]byte(asked.Text), &raw); err != nil {
		return nil, err
	}
	file := workerFile{Sources: map[string]source.Config{}}
	for name, known := range source.GetAllConfigurableSources() {
		config := known.NewConfig()
		if text, there := raw.Sources[name]; there {
			if err := yaml.Unmarshal(text, config); err != nil {
				return nil, fmt.Errorf("source %s: %w", name, err)
			}
			file.Sources[name] = config
		}
		known.SetConfig(config)
	}
	labels, err := source.GetLabelSource(custom.Name).GetLabels()
	if err != nil {
		return nil, err
	}
	given := map[string]string{}
	for name, value := range labels {
		if !strings.Contains(name, "/") {
			name = nfdv1alpha1.FeatureLabelNs + "/" + name
		}
		if err := validate.Label(name, fmt.Sprint(value)); err != nil {
			return nil, fmt.Errorf("the master drops the label %s: %w", name, err)
		}
		given[name] = fmt.Sprint(value)
	}
	found, err := understood(asked.Text, file, "")
	if err != nil {
		return nil, err
	}
	found.Config = map[string]any{"file": file, "labels": given}
	return found, nil
}
