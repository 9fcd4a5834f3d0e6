import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runBench } from '../src/run-bench.ts'
import { FIRST_FILES, findOlderCommit } from '../src/scenarios/hot-path/older-program.ts'
import { hotPath } from '../src/scenarios/hot-path.ts'
import { lists } from '../src/scenarios/lists.ts'
import { sagaConnections } from '../src/scenarios/saga-connections.ts'
import { scale } from '../src/scenarios/scale.ts'
import { traces } from '../src/scenarios/traces.ts'
import { SCENARIOS } from '../src/scenarios.ts'
import { SMOKE, SMOKE_MS_MAX, silent } from './smoke.ts'

describe('scenarios', () => {
  it('Each answered saga is stored, whether the load has one connection or many', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const { counters, rows } = await runBench(sagaConnections, SMOKE, silent)
    const answers = rows
      .filter(({ name }) => name.startsWith('saga'))
      .reduce((sum, row) => sum + row.answers, 0)
    expect(answers).toBeGreaterThan(0)
    expect(counters.stored).toBe(answers)
  })

  it('Sagas run by the code from before names, with names and tags, and beside consoles that are served', {
    timeout: 5 * SMOKE_MS_MAX,
  }, async (context) => {
    if (findOlderCommit(FIRST_FILES.names) === undefined)
      return context.skip('git does not have the code from before names')
    const { counters, rows, ratios } = await runBench(hotPath, SMOKE, silent)
    expect(counters.stored).toBe(rows.reduce((sum, { answers }) => sum + answers, 0))
    expect(Object.keys(ratios)).toHaveLength(4)
    expect(rows.at(-1)?.figures['console frames']?.median).toBeGreaterThan(0)
    expect(rows.at(-1)?.figures['console answers']?.median).toBeGreaterThanOrEqual(6)
  })

  it('Sagas run with spans that are sent, and by the code from before there were spans', {
    timeout: 5 * SMOKE_MS_MAX,
  }, async (context) => {
    if (findOlderCommit(FIRST_FILES.traces) === undefined)
      return context.skip('git does not have the code from before traces')
    const { counters, rows, ratios } = await runBench(traces, SMOKE, silent)
    expect(counters.stored).toBe(rows.reduce((sum, { answers }) => sum + answers, 0))
    expect(counters.exports).toBeGreaterThan(0)
    expect(Object.keys(ratios)).toHaveLength(3)
  })

  it('The list finds all rows of a rare tag, and each filter has its row', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const { counters, rows } = await runBench(lists, { ...SMOKE, rows: 2_000 }, silent)
    expect(counters).toMatchObject({ finished: 2_000, live: 100, rareRows: 20, rarePages: 1 })
    expect(rows.every(({ answers }) => answers === 1)).toBe(true)
    const found = Object.fromEntries(rows.map(({ name, figures }) => [name, figures.rows?.median]))
    expect(found).toMatchObject({ 'no filter': 50, 'two tags, 2 far back': 2, 'name, none': 0, attention: 1 })
  })

  it('The scale scenario has a row for each size', { timeout: SMOKE_MS_MAX }, async () => {
    const { counters, rows } = await runBench(scale, { ...SMOKE, rows: 400 }, silent)
    expect(rows.length).toBeGreaterThanOrEqual(10)
    expect(rows.every(({ answers }) => answers > 0)).toBe(true)
    expect(Object.values(counters).every((count) => Number.isFinite(count))).toBe(true)
  })
})

/** The one waits for a retention, of which a minute is the shortest, the other for sagas that become due after half a minute. */
const TOO_LONG = ['saga-empty-retention', 'flat']

describe('the tests of the bench', () => {
  it('The tests run every scenario but the two that take too long', () => {
    const texts = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
    const isRun = (name: string) =>
      texts.some((text) => text.includes(`/scenarios/${name}.ts'`) && text.includes('runBench('))
    const names = SCENARIOS.map(({ name }) => name)
    expect(names.filter((name) => !isRun(name))).toEqual(TOO_LONG)
  })
})
