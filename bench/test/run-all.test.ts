import { describe, expect, it } from 'vitest'
import type { Failed } from '../src/report/html/combined-page.ts'
import { allLine, type Report } from '../src/report/report.ts'
import { runAll } from '../src/run-all.ts'
import { headlinesOn } from '../src/run-all-headlines.ts'
import type { Scenario } from '../src/scenario.ts'
import { readCommand } from '../src/settings.ts'

const empty: Scenario = {
  name: 'empty',
  summary: '',
  run: async () => ({ rows: [], ratios: [], counters: {} }),
}
const broken: Scenario = { ...empty, name: 'broken', run: () => Promise.reject(new Error('it broke')) }

describe('all scenarios', () => {
  it('All scenarios run one after the other, though one of them fails, and the progress says their place', async () => {
    const shown: string[] = []
    const ended: (Report | Failed)[] = []
    const headlines = [broken, empty].map((scenario) => ({ scenario, store: 'sqlite' as const }))
    const { reports, failed } = await runAll(
      { rounds: 1 },
      { show: (text) => shown.push(text), clear: () => undefined },
      () => undefined,
      (each) => ended.push(each),
      headlines,
    )
    expect(failed).toEqual([{ name: 'broken, sqlite', message: 'it broke' }])
    expect(reports.map(({ scenario }) => scenario)).toEqual(['empty'])
    expect(ended).toEqual([...failed, ...reports])
    expect(shown.some((text) => /^2 of 2, empty, sqlite \(0 min 0\d s\): starting$/.test(text))).toBe(true)
    const line = JSON.parse(allLine(reports, ['broken, sqlite']))
    expect(line).toMatchObject({
      scenario: 'all',
      reports: [{ scenario: 'empty' }],
      failed: ['broken, sqlite'],
    })
  })

  it('The headlines cover the four reference benchmarks, and the saga and the cost of its writes on three stores', () => {
    const names = headlinesOn({}).map(({ scenario, store }) => `${scenario.name} ${store}`)
    for (const name of ['transfer', 'saga-empty', 'submit', 'hot-row', 'recover'])
      expect(names.some((each) => each.startsWith(`${name} `))).toBe(true)
    for (const store of ['sqlite', 'mysql', 'redis']) {
      expect(names).toEqual(expect.arrayContaining([`saga ${store}`, `two-writes-baseline ${store}`]))
    }
  })

  it('The headlines run on a given store where they can, and elsewhere on their own', () => {
    const stores = Object.fromEntries(
      headlinesOn({ store: 'redis' }).map(({ scenario, store }) => [scenario.name, store]),
    )
    expect(stores).toMatchObject({
      saga: 'redis',
      recover: 'redis',
      'saga-empty': 'redis',
      'hot-row': 'mariadb',
    })
  })

  it('The word all asks for all scenarios', () => {
    expect(readCommand(['all', '--wrk'])).toEqual({ scenario: 'all', given: { wrk: true }, json: false })
  })
})
