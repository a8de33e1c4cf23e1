package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	spec "github.com/NVIDIA/k8s-device-plugin/api/config/v1"
	"github.com/urfave/cli/v2"
	"k8s.io/klog/v2"
)

// The flags of cmd/nvidia-device-plugin/main.go, which is a program and cannot be imported: their defaults and
// variables decide what stands beside the file, or against it.
func pluginFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "mig-strategy", Value: spec.MigStrategyNone, EnvVars: []string{"MIG_STRATEGY"}},
		&cli.BoolFlag{Name: "fail-on-init-error", Value: true, EnvVars: []string{"FAIL_ON_INIT_ERROR"}},
		&cli.StringFlag{Name: "driver-root", Aliases: []string{"nvidia-driver-root"}, Value: "/",
			EnvVars: []string{"NVIDIA_DRIVER_ROOT"}},
		&cli.StringFlag{Name: "dev-root", Aliases: []string{"nvidia-dev-root"}, EnvVars: []string{"NVIDIA_DEV_ROOT"}},
		&cli.BoolFlag{Name: "pass-device-specs", EnvVars: []string{"PASS_DEVICE_SPECS"}},
		&cli.StringSliceFlag{Name: "device-list-strategy", Value: cli.NewStringSlice(spec.DeviceListStrategyEnvVar),
			EnvVars: []string{"DEVICE_LIST_STRATEGY"}},
		&cli.StringFlag{Name: "device-id-strategy", Value: spec.DeviceIDStrategyUUID,
			EnvVars: []string{"DEVICE_ID_STRATEGY"}},
		&cli.BoolFlag{Name: "gdrcopy-enabled", EnvVars: []string{"GDRCOPY_ENABLED"}},
		&cli.BoolFlag{Name: "gds-enabled", EnvVars: []string{"GDS_ENABLED"}},
		&cli.BoolFlag{Name: "mofed-enabled", EnvVars: []string{"MOFED_ENABLED"}},
		&cli.StringFlag{Name: "config-file", EnvVars: []string{"CONFIG_FILE"}},
		&cli.StringFlag{Name: "cdi-annotation-prefix", Value: spec.DefaultCDIAnnotationPrefix,
			EnvVars: []string{"CDI_ANNOTATION_PREFIX"}},
		&cli.StringFlag{Name: "nvidia-cdi-hook-path", Aliases: []string{"nvidia-ctk-path"},
			Value: spec.DefaultNvidiaCTKPath, EnvVars: []string{"NVIDIA_CDI_HOOK_PATH", "NVIDIA_CTK_PATH"}},
		&cli.StringFlag{Name: "driver-root-ctr-path", Aliases: []string{"container-driver-root"},
			Value:   spec.DefaultContainerDriverRoot,
			EnvVars: []string{"DRIVER_ROOT_CTR_PATH", "CONTAINER_DRIVER_ROOT"}},
		&cli.StringFlag{Name: "mps-root", EnvVars: []string{"MPS_ROOT"}},
		&cli.StringFlag{Name: "device-discovery-strategy", Value: "auto",
			EnvVars: []string{"DEVICE_DISCOVERY_STRATEGY"}},
		&cli.IntSliceFlag{Name: "imex-channel-ids", EnvVars: []string{"IMEX_CHANNEL_IDS"}},
		&cli.BoolFlag{Name: "imex-required", EnvVars: []string{"IMEX_REQUIRED"}},
	}
}

// devicePlugin does what the NVIDIA device plugin does with its configuration before it looks for GPUs.
func devicePlugin(asked request) (*understanding, error) {
	for _, known := range pluginFlags() {
		for _, variable := range known.(cli.DocGenerationFlag).GetEnvVars() {
			os.Unsetenv(variable)
		}
	}
	for variable, value := range asked.Environment {
		os.Setenv(variable, value)
		defer os.Unsetenv(variable)
	}
	var config *spec.Config
	logged, err := withKlog(func() error {
		return inFile(asked.Text, func(path string) error {
			app := cli.NewApp()
			app.Flags, app.Writer, app.ErrWriter = pluginFlags(), io.Discard, io.Discard
			app.Action = func(context *cli.Context) (err error) {
				if config, err = spec.NewConfig(context, app.Flags); err != nil {
					return err
				}
				spec.DisableResourceNamingInConfig(config)
				return validateFlags(config)
			}
			return app.Run([]string{"nvidia-device-plugin", "--config-file", path})
		})
	})
	if err != nil {
		return nil, err
	}
	found, err := understood(asked.Text, config, logged)
	if err != nil {
		return nil, err
	}
	found.Config = map[string]any{
		"strategy":   config.Sharing.SharingStrategy(),
		"replicated": config.Sharing.ReplicatedResources(),
		"file":       config,
	}
	return found, nil
}

// The rules of validateFlags in cmd/nvidia-device-plugin/main.go, less what asks the driver.
func validateFlags(config *spec.Config) error {
	flags := config.Flags
	if _, err := spec.NewDeviceListStrategies(*flags.Plugin.DeviceListStrategy); err != nil {
		return fmt.Errorf("invalid device list strategy: %w", err)
	}
	if id := *flags.Plugin.DeviceIDStrategy; id != spec.DeviceIDStrategyUUID && id != spec.DeviceIDStrategyIndex {
		return fmt.Errorf("invalid device id strategy: %s", id)
	}
	if config.Sharing.SharingStrategy() == spec.SharingStrategyMPS {
		if *flags.MigStrategy == spec.MigStrategyMixed {
			return fmt.Errorf("the mixed MIG strategy is not supported with MPS")
		}
		if flags.MpsRoot == nil || *flags.MpsRoot == "" {
			return fmt.Errorf("MPS needs the MPS root")
		}
	}
	switch *flags.DeviceDiscoveryStrategy {
	case "auto", "nvml", "tegra":
	default:
		return fmt.Errorf("invalid device discovery strategy: %s", *flags.DeviceDiscoveryStrategy)
	}
	switch *flags.MigStrategy {
	case spec.MigStrategyNone, spec.MigStrategySingle, spec.MigStrategyMixed:
	default:
		return fmt.Errorf("unknown MIG strategy: %s", *flags.MigStrategy)
	}
	return spec.AssertChannelIDsValid(config.Imex.ChannelIDs)
}

// withKlog returns what is logged as a warning or an error while a function runs.
func withKlog(run func() error) (string, error) {
	settings := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(settings)
	for name, value := range map[string]string{
		"logtostderr": "false", "stderrthreshold": "FATAL", "skip_headers": "false", "one_output": "true",
	} {
		if err := settings.Set(name, value); err != nil {
			return "", err
		}
	}
	var logged bytes.Buffer
	klog.SetOutput(&logged)
	err := run()
	klog.Flush()
	var told []string
	for _, line := range lines(logged.String()) {
		if _, message, found := strings.Cut(line, "] "); found && (line[0] == 'W' || line[0] == 'E') {
			told = append(told, message)
		}
	}
	return strings.Join(told, "\n"), err
}
