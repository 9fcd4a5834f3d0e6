import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Harness } from '../src/harness/harness.ts'
import { formatReport } from '../src/report/print-report.ts'
import { reportLine } from '../src/report/report.ts'
import { runBench } from '../src/run-bench.ts'
import type { Scenario } from '../src/scenario.ts'
import { recover } from '../src/scenarios/recover.ts'
import { relay } from '../src/scenarios/relay.ts'
import { saga } from '../src/scenarios/saga.ts'
import { SCENARIOS } from '../src/scenarios.ts'
import { readCommand } from '../src/settings.ts'
import { SMOKE, SMOKE_MS_MAX, silent } from './smoke.ts'

describe('bench', () => {
  it('A run of the relay counts two branch calls for each answer', { timeout: SMOKE_MS_MAX }, async () => {
    const { store, rows, ratios, counters } = await runBench(relay, SMOKE, silent)
    expect(store).toBeNull()
    expect(rows.map(({ name }) => name)).toEqual(['relay'])
    expect(ratios).toEqual({})
    expect(counters.answers).toBeGreaterThan(0)
    expect(counters.branchCalls).toBe(2 * (counters.answers ?? 0))
  })

  it('A run of the saga scenario finds each answered saga finished in the store', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const settings = { ...SMOKE, branches: 3, rounds: 2 }
    const report = await runBench(saga, settings, silent)
    const { counters, rows, ratios } = report
    expect(rows.map(({ name }) => name)).toEqual(['relay', 'saga'])
    expect(rows.every(({ perSecond }) => perSecond.rounds.length === 2)).toBe(true)
    expect(counters.answers).toBeGreaterThan(0)
    expect(counters.stored).toBe(counters.answers)
    expect(counters.branchCalls).toBe(3 * (counters.answers ?? 0))
    expect(report.store).toMatchObject({ name: 'sqlite', durabilityClass: 'A' })
    // On a busy machine a round of a few tenths of a second may have no answer, and its ratio is no number.
    expect(ratios).toHaveProperty(['saga/relay'])
    expect(formatReport(report)).toContain('durability class A')
    expect(JSON.parse(reportLine(report))).toMatchObject({ scenario: 'saga', store: 'sqlite', settings })
  })

  it('A run of the recover scenario recovers each saga that a killed server left', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const settings = { ...SMOKE, sagas: 300 }
    const { counters, rows, ratios, store } = await runBench(recover, settings, silent)
    expect(rows.map(({ name }) => name)).toEqual(['recover', 'fresh, 4 callers', 'fresh, 16 callers'])
    expect(rows[0]?.answers).toBe(300)
    expect(counters.freshAnswers).toBeGreaterThan(0)
    expect(counters.stored).toBe(300 + (counters.freshAnswers ?? 0))
    expect(counters.recoveryCalls).toBeGreaterThanOrEqual(600)
    expect(ratios).toHaveProperty(['recover/fresh'])
    expect(store?.software.settings).toEqual({ journal_mode: 'wal', synchronous: 'full' })
  })

  it('A run of the bench fails when an answer is not the expected one, and leaves no folder behind', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const opened: Harness[] = []
    const broken: Scenario = {
      ...relay,
      run: (context) => {
        const { harness } = context
        const load = harness.load.bind(harness)
        harness.load = (job) => load({ ...job, expect: 'something else' })
        return relay.run(context)
      },
    }
    const run = runBench(broken, SMOKE, silent, (harness) => opened.push(harness))
    await expect(run).rejects.toThrow(/not every answer was as expected: .*"otherBody":[1-9]/)
    expect(opened.map(({ folder }) => existsSync(folder))).toEqual([false])
  })
})

describe('the command line', () => {
  it('The command line of the bench takes a scenario and its options', () => {
    const command = readCommand([
      'saga',
      '--seconds',
      '5',
      '--connections',
      '8',
      '--branches',
      '20',
      '--json',
    ])
    const given = { seconds: 5, connections: 8, branches: 20 }
    expect(command).toEqual({ scenario: 'saga', given, json: true })
  })

  it('Options of the bench that are not given are left to the scenario', () => {
    expect(readCommand(['recover', '--store', 'mariadb'])).toEqual({
      scenario: 'recover',
      given: { store: 'mariadb' },
      json: false,
    })
  })

  it.each([
    [['saga', '--rounds', '0'], '--rounds 0'],
    [['saga', '--branches', '101'], '--branches 101'],
    [['saga', '--store', 'paper'], '--store paper'],
    [['saga', 'relay'], 'relay'],
    [['--store', 'sqlite'], 'name a scenario'],
  ])('The bench refuses the command line %j', (argv, named) => {
    expect(() => readCommand(argv)).toThrow(named)
  })

  it('The bench shows its help where no scenario is named', () => {
    expect(readCommand([])).toBe('help')
  })
})

describe('the readme', () => {
  it('The README of the bench names every scenario', () => {
    const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    for (const { name } of SCENARIOS) expect(text).toContain(`\`${name}\``)
  })
})
