package main

import (
	"slices"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"sigs.k8s.io/yaml"
)

// helm renders a chart with the values of the text. What is understood are the documents, in a fixed order.
func helm(asked request) (*understanding, error) {
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(asked.Text), &values); err != nil {
		return nil, err
	}
	chart, err := loader.LoadDir(asked.Chart)
	if err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependencies(chart, values); err != nil {
		return nil, err
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	if asked.Kubernetes != "" {
		version, err := chartutil.ParseKubeVersion(asked.Kubernetes)
		if err != nil {
			return nil, err
		}
		capabilities.KubeVersion = *version
	}
	release := chartutil.ReleaseOptions{Name: asked.Name, Namespace: asked.Namespace, Revision: 1, IsInstall: true}
	rendering, err := chartutil.ToRenderValues(chart, values, release, capabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, rendering)
	if err != nil {
		return nil, err
	}
	documents := []any{}
	for _, file := range sorted(files) {
		texts := releaseutil.SplitManifests(files[file])
		for _, number := range sorted(texts) {
			var document any
			if err := yaml.Unmarshal([]byte(texts[number]), &document); err != nil {
				return nil, err
			}
			if _, ok := document.(map[string]any); ok {
				documents = append(documents, document)
			}
		}
	}
	return &understanding{Config: documents, Ignored: []string{}, Warnings: []string{}}, nil
}

func sorted(named map[string]string) (names []string) {
	for name := range named {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
