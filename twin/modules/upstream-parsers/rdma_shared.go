package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"strings"

	"github.com/Mellanox/k8s-rdma-shared-dev-plugin/pkg/resources"
	"github.com/Mellanox/k8s-rdma-shared-dev-plugin/pkg/types"
)

// rdmaShared does what the shared RDMA device plugin does with its configuration before it looks for cards.
func rdmaShared(asked request) (*understanding, error) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	log.SetFlags(0)
	defer log.SetOutput(os.Stderr)
	err := inFile(asked.Text, func(path string) error {
		manager := resources.NewResourceManager(path, false)
		if err := manager.ReadConfig(); err != nil {
			return err
		}
		return manager.ValidateConfigs()
	})
	if err != nil {
		return nil, err
	}
	// The manager keeps what it read to itself.
	config := &types.UserConfigList{}
	if err := json.Unmarshal([]byte(asked.Text), config); err != nil {
		return nil, err
	}
	var told []string
	for _, line := range lines(logged.String()) {
		if strings.HasPrefix(strings.ToLower(line), "warning") {
			told = append(told, line)
		}
	}
	return understood(asked.Text, config, strings.Join(told, "\n"))
}
