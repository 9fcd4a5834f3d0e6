import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { buildDashboardReader, explainMissingReader } from '../../test/grafana/build-reader.ts'
import { runCommand } from '../../test/run-command.ts'

const DASHBOARD = join(import.meta.dirname, '..', 'counterstep.json')
/** The first run on a machine builds the reader, unless that was done before the tests. */
const BUILD_MS_MAX = 600_000

it('The types that Grafana publishes take the dashboard, and refuse planted faults', {
  timeout: BUILD_MS_MAX,
}, async ({ skip }) => {
  const missing = explainMissingReader()
  skip(missing !== undefined, missing)
  const reader = await buildDashboardReader()
  expect(await runCommand(reader, [DASHBOARD])).toEqual({ code: 0, stdout: '', stderr: '' })
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-dashboard-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const text = readFileSync(DASHBOARD, 'utf8')
  for (const [from, to] of [
    ['"gridPos"', '"gridPosition"'],
    ['"legendFormat"', '"legendFormatted"'],
    ['"showLegend": true', '"showLegend": "yes"'],
  ] as const) {
    expect(text).toContain(from)
    const planted = join(folder, 'planted.json')
    writeFileSync(planted, text.replace(from, to))
    expect(await runCommand(reader, [planted]), to).toMatchObject({ code: 1 })
  }
})
