/**
 * Draws the picture of docs/guides/observe.md anew. The test of the dashboard asks a real Prometheus, which scrapes a server
 * under load, and this draws its answers in the layout of the dashboard. It is no picture of Grafana, which is not needed.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Answered, drawPanels, type Span } from './dashboard/draw-panels.ts'

const ROOT = join(import.meta.dirname, '..')
const ANSWERS = join(ROOT, '.tmp', 'dashboard.json')
const PICTURE = join(ROOT, 'docs', 'guides', 'pictures', 'dashboard.svg')

const args = ['exec', '--', 'vitest', 'run', '--project', 'packages', 'testing/system/e2e/prometheus.test.ts']
execFileSync('npm', args, { cwd: ROOT, stdio: 'inherit' })
const { panels, ...span } = JSON.parse(readFileSync(ANSWERS, 'utf8')) as Span & {
  readonly panels: readonly Answered[]
}
writeFileSync(PICTURE, drawPanels(panels, span))
