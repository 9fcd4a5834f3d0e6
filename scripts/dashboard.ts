/** Writes the dashboard for Grafana, infra/grafana/counterstep.json, from scripts/dashboard/panels.ts. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildDashboard } from './dashboard/build-dashboard.ts'

const ROOT = join(import.meta.dirname, '..')
const FILE = join(ROOT, 'infra', 'grafana', 'counterstep.json')

writeFileSync(FILE, JSON.stringify(buildDashboard()))
// The formatter lays it out as it lays out all other files.
execFileSync('npx', ['biome', 'format', '--write', FILE], { cwd: ROOT, stdio: 'inherit' })
