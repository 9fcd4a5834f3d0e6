// This program reads a dashboard with the types that Grafana publishes, and prints what they do not know or what they miss.
package main

import (
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	plugins.RegisterDefaultPlugins()
	if faults := findFaults(os.Args[1]); faults != "" {
		fmt.Fprintln(os.Stderr, faults)
		os.Exit(1)
	}
}

func findFaults(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	read := dashboard.Dashboard{}
	// Without a fault this is an empty list of errors, which is not nil.
	if err := read.UnmarshalJSONStrict(text); err != nil {
		return err.Error()
	}
	return ""
}
