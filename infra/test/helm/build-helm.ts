import { buildGoTool } from '../go-tool.ts'
import { findOnPath } from '../image/tools.ts'

/** Says why Helm cannot be built here. Returns undefined if it can. */
export function explainMissingHelm(): string | undefined {
  return findOnPath('go') === undefined ? 'no Go, in which Helm is written' : undefined
}

/** Builds the command `helm` in the version that go.mod names, unless it is there. Returns its path. */
export function buildHelm(): Promise<string> {
  return buildGoTool('helm', import.meta.dirname, 'helm.sh/helm/v3/cmd/helm')
}
