package main

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/gauge"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// grafanaDashboard reads a dashboard by Grafana's own schema. A key or a value that is not in it is refused, though
// Grafana would ignore it; what is missing is not, since Grafana has a default for it.
func grafanaDashboard(asked request) (*understanding, error) {
	known := cog.NewRuntime()
	known.RegisterPanelcfgVariant(bargauge.VariantConfig())
	known.RegisterPanelcfgVariant(gauge.VariantConfig())
	known.RegisterPanelcfgVariant(heatmap.VariantConfig())
	known.RegisterPanelcfgVariant(stat.VariantConfig())
	known.RegisterPanelcfgVariant(statetimeline.VariantConfig())
	known.RegisterPanelcfgVariant(table.VariantConfig())
	known.RegisterPanelcfgVariant(timeseries.VariantConfig())
	known.RegisterDataqueryVariant(prometheus.VariantConfig())
	var strict, page dashboard.Dashboard
	if err := strict.UnmarshalJSONStrict([]byte(asked.Text)); err != nil {
		var wrong []string
		for _, line := range lines(err.Error()) {
			if !strings.HasSuffix(line, ": required field is missing from input") {
				wrong = append(wrong, line)
			}
		}
		if wrong != nil {
			return nil, errors.New(strings.Join(wrong, "\n"))
		}
	}
	if err := json.Unmarshal([]byte(asked.Text), &page); err != nil {
		return nil, err
	}
	return understood(asked.Text, page, "")
}
