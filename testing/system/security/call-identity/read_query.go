// Reads one request target a line and prints, as JSON, what a service in Go would take for the identity of the call.
package main

import (
	"bufio"
	"encoding/json"
	"net/url"
	"os"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1024*1024), 1024*1024)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		seen := map[string]any{}
		target, err := url.ParseRequestURI(lines.Text())
		if err == nil {
			values := target.Query()
			for _, name := range []string{"gid", "trans_type", "branch_id", "op"} {
				seen[name] = values.Get(name)
			}
		}
		if err := out.Encode(seen); err != nil {
			os.Exit(1)
		}
	}
}
