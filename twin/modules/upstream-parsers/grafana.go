package main

import (
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

// grafanaDashboard reads a dashboard by Grafana's own schema, which Grafana itself does not insist on: a key that it
// does not know is refused here.
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
	var page dashboard.Dashboard
	if err := page.UnmarshalJSONStrict([]byte(asked.Text)); err != nil {
		return nil, err
	}
	if err := page.Validate(); err != nil {
		return nil, err
	}
	return understood(asked.Text, page, "")
}
