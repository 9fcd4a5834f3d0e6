import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { runBench } from '../../src/run-bench.ts'
import { latency } from '../../src/scenarios/latency.ts'
import { sagaEmpty } from '../../src/scenarios/saga-empty.ts'
import { submit } from '../../src/scenarios/submit.ts'
import { SMOKE, SMOKE_MS_MAX, silent } from '../smoke.ts'

describeOwn('redis', 'sagas on a private Redis', () => {
  it('Sagas end on one Redis server and on two, and their size is counted', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const { counters, rows, ratios } = await runBench(sagaEmpty, { ...SMOKE, store: 'redis' }, silent)
    expect(rows.map(({ name }) => name)).toEqual(['1 server', '2 servers'])
    expect(counters.answers).toBeGreaterThan(0)
    expect(counters.stored).toBe(counters.answers)
    expect(counters['bytes per finished saga']).toBeGreaterThan(100)
    expect(ratios['2 servers/1 server']).toBeGreaterThan(0)
  })
})

describeOwn('mariadb', 'sagas on a private MariaDB', () => {
  it('Sagas on a private MariaDB are compared with a one-row commit', { timeout: SMOKE_MS_MAX }, async () => {
    const settings = { ...SMOKE, store: 'mariadb', connections: 1 } as const
    const { counters, rows, ratios } = await runBench(latency, settings, silent)
    expect(rows.map(({ name }) => name)).toEqual([
      'relay, 16 connections',
      'relay',
      'two-writes baseline, 16 connections',
      'two-writes baseline',
      'saga, 16 connections',
      'saga',
      'one-row commit',
    ])
    expect(counters.stored).toBe(counters.answers)
    const [, , warmBaseline, baseline] = rows
    expect(counters.storedByBaseline).toBe(Number(warmBaseline?.answers) + Number(baseline?.answers))
    expect(counters.commits).toBe(rows.at(-1)?.answers)
    expect(Number.isFinite(ratios['latency/bound'])).toBe(true)
    expect(Number.isFinite(ratios['baseline/bound'])).toBe(true)
  })

  it('Submits wait for a flush of 5 ms where it was slowed', { timeout: SMOKE_MS_MAX }, async () => {
    const { counters, rows, ratios } = await runBench(submit, { ...SMOKE, store: 'mariadb' }, silent)
    const readP50 = (name: string) => rows.find((row) => row.name === name)?.p50Ms?.median
    expect(readP50('durable, 1 connection, 5 ms flush')).toBeGreaterThanOrEqual(5)
    expect(counters.stored).toBe(counters.answers)
    expect(ratios['memory/durable']).toBeGreaterThan(0)
  })
})
