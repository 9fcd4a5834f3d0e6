import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Harness } from '../src/harness/harness.ts'
import { DTM_VERSION, MODULE_FOLDER } from '../src/scenarios/dtm/peer/build-dtm.ts'
import { openDtmPeer } from '../src/scenarios/dtm/peer/open-dtm-peer.ts'
import { readLoggedSettings } from '../src/scenarios/dtm/peer/start-dtm.ts'
import { withStoreCpu } from '../src/scenarios/dtm/store-cpu.ts'
import { SMOKE, silent } from './smoke.ts'

describe('DTM itself', () => {
  it('A DTM that cannot be built is skipped by its name, with the reason', async () => {
    const keptIn = await mkdtemp(join(tmpdir(), 'bench-dtm-'))
    const harness = new Harness()
    try {
      const context = { settings: SMOKE, harness, progress: silent }
      const { rows, notes } = await openDtmPeer(context, { go: 'counterstep-missing-go', keptIn })
      expect(rows).toEqual([])
      expect(notes).toEqual([
        expect.stringMatching(
          /^dtm \d+\.\d+\.\d+ is skipped: Go does not build .+: .*counterstep-missing-go/,
        ),
      ])
    } finally {
      await harness.close()
      await rm(keptIn, { recursive: true })
    }
  })

  it('The module that Go builds requires just the version that the report names', async () => {
    const module = await readFile(join(MODULE_FOLDER, 'go.mod'), 'utf8')
    expect(module).toContain(`\nrequire github.com/dtm-labs/dtm v${DTM_VERSION}\n`)
    const sums = await readFile(join(MODULE_FOLDER, 'go.sum'), 'utf8')
    expect(sums).toContain(`github.com/dtm-labs/dtm v${DTM_VERSION} h1:`)
  })

  it('Its settings are read from the log of its start', () => {
    const config = { Store: { Driver: 'redis', MaxOpenConns: 500 }, UpdateBranchSync: 0, LogLevel: 'warn' }
    const msg = `config file: conf.yml loaded config is: \n${JSON.stringify(config, undefined, 2)}`
    const log = `invalid log level: , switching\n${JSON.stringify({ level: 'info', msg })}\n`
    expect(readLoggedSettings(log)).toMatchObject({
      Driver: 'redis',
      MaxOpenConns: 500,
      UpdateBranchSync: 0,
      LogLevel: 'warn',
    })
    expect(() => readLoggedSettings('')).toThrow('it does not log its configuration')
  })
})

it('The CPU time of the database stands beside the rate, for one saga', () => {
  const worker = (name: string) => ({ name, cpuSeconds: () => 1 })
  const measured = {
    answers: 1_000,
    answersPerSecond: 100,
    latencyMs: { p50: 1, p99: 2 },
    cpuSeconds: [1, 0.5, 0.2],
    figures: {},
  }
  const { figures } = withStoreCpu(measured, [worker('server'), worker('database'), worker('branch')])
  expect(figures).toEqual({ 'store CPU µs': 500 })
  expect(withStoreCpu(measured, [worker('server'), worker('branch')])).toBe(measured)
})
