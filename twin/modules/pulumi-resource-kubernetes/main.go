// The Kubernetes provider of Pulumi, built from its published Go module.
//
// The release binary embeds two generated files. The builder copies both from the module's own
// directory beside this file (schema.json gets the version stamped into it), see twin/tools.yaml.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var mapping []byte

func main() {
	provider.Serve("kubernetes", version.Version, schema, mapping)
}
