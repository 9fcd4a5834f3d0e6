import { buildGoTool } from '../go-tool.ts'
import { findOnPath } from '../image/tools.ts'

/** Says why the reader of dashboards cannot be built here. Returns undefined if it can. */
export function explainMissingReader(): string | undefined {
  return findOnPath('go') === undefined ? 'no Go, in which Grafana publishes its types' : undefined
}

/** Builds the program that reads a dashboard with Grafana's own types. Returns its path. */
export function buildDashboardReader(): Promise<string> {
  return buildGoTool('dashboard-reader', import.meta.dirname, '.')
}
