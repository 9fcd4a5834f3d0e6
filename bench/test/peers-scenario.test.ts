import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parsePssBytes } from '../src/harness/memory.ts'
import { sumFlushes } from '../src/harness/read-flushes.ts'
import type { EngineKind } from '../src/peers/engine.ts'
import { chooseEngines, ENGINES } from '../src/peers/engines.ts'
import { listCallers, peersTable } from '../src/peers/peers-table.ts'
import { pinnedPlaces, readVersions } from '../src/peers/pinned-packages.ts'
import { formatMarkdown } from '../src/report/markdown.ts'
import { formatReport } from '../src/report/print-report.ts'
import { type Row, toCurve } from '../src/row.ts'
import { runBench } from '../src/run-bench.ts'
import { runPeers } from '../src/scenarios/peers.ts'
import { readCommand } from '../src/settings.ts'
import { toSpread } from '../src/spread.ts'
import { SMOKE, SMOKE_MS_MAX, silent } from './smoke.ts'

const NO_WRK = { type: 'missing', reason: 'it is not asked for' } as const
const smoke = (only: string, kinds: readonly EngineKind[] = ENGINES) =>
  runBench(
    { name: 'peers', summary: '', run: (context) => runPeers(context, NO_WRK, kinds) },
    { ...SMOKE, only },
    silent,
  )

describe('peers', () => {
  it('Each engine is asked with all callers and with one, and what it stores is counted', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const report = await smoke('relay,counterstep-sqlite')
    expect(report.rows.map(({ name, group }) => [name, group])).toEqual([
      ['relay, 4 callers', '4 callers'],
      ['relay, 1 caller', '1 caller'],
      ['counterstep-sqlite, 4 callers', '4 callers'],
      ['counterstep-sqlite, 1 caller', '1 caller'],
    ])
    expect(Object.keys(report.ratios)).toEqual([
      'counterstep-sqlite/relay, 4 callers',
      'counterstep-sqlite/relay, 1 caller',
    ])
    const { counters } = report
    expect(counters['counterstep-sqlite answers']).toBeGreaterThan(0)
    expect(counters['counterstep-sqlite stored']).toBe(counters['counterstep-sqlite answers'])
    expect(formatReport(report)).toContain('each row has a store of its own')
    expect(formatReport(report)).toContain('journal_mode=wal, synchronous=full')
    expect(formatMarkdown(report)).toContain('| Counterstep, SQLite | 1 |')
  })

  it('A peer that cannot be had is skipped by its name, with the reason, and the others are measured', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const absent: EngineKind = {
      name: 'absent',
      title: 'Absent',
      isPeer: true,
      note: 'it is never there',
      open: () => Promise.reject(new Error('npm does not get it')),
    }
    const { rows, notes } = await smoke('relay,absent', [...ENGINES, absent])
    expect(rows.map(({ name }) => name)).toEqual(['relay, 4 callers', 'relay, 1 caller'])
    expect(notes).toContain('absent is skipped: npm does not get it')
  })

  it('An engine of ours that does not start ends the run', { timeout: SMOKE_MS_MAX }, async () => {
    const broken: EngineKind = {
      name: 'broken',
      title: 'Broken',
      isPeer: false,
      note: '',
      open: () => Promise.reject(new Error('it does not start')),
    }
    await expect(smoke('broken', [broken])).rejects.toThrow('it does not start')
  })
})

it.each([
  ['restate', '@restatedev/restate-server'],
  ['dbos', '@dbos-inc/dbos-sdk'],
])('The title of %s has the version that its lockfile fixes', (name, packageName) => {
  const title = ENGINES.find((engine) => engine.name === name)?.title
  const { sources } = pinnedPlaces({ ending: new AbortController().signal })
  const versions = readVersions(readFileSync(join(sources, name, 'package.json'), 'utf8'))
  const version = versions.split(', ').find((each) => each.startsWith(`${packageName}@`))
  expect(title).toContain(` ${version?.slice(packageName.length + 1)}`)
})

describe('the choice of engines', () => {
  const choose = (only?: string) => chooseEngines(only).map(({ name }) => name)

  it('All engines are chosen where none is named', () => {
    expect(choose()).toEqual(ENGINES.map(({ name }) => name))
  })

  it.each([
    ['relay', ['relay']],
    ['dtm-redis', ['dtm-redis-always', 'dtm-redis-everysec']],
    ['dbos, relay', ['relay', 'dbos']],
    ['counterstep-redis-always', ['counterstep-redis-always']],
  ])('The names %j choose engines in the order in which they are measured', (only, names) => {
    expect(choose(only)).toEqual(names)
  })

  it('A name that no engine has is refused, with those that there are', () => {
    expect(() => choose('relay,dt')).toThrow(/^--only dt: there are relay, counterstep-sqlite, /)
  })

  it('The command line takes the names', () => {
    expect(readCommand(['peers', '--only', 'relay,dtm'])).toMatchObject({ given: { only: 'relay,dtm' } })
  })
})

describe('the table of engines', () => {
  const makeRow = (name: string, rates: readonly number[], figures: Row['figures'] = {}): Row => ({
    name,
    perSecond: toSpread(rates),
    p50Ms: toSpread([1.234]),
    p99Ms: toSpread([5.678]),
    ...toCurve([undefined]),
    cpuUs: { asked: toSpread([100.4]), everything: toSpread([150]) },
    answers: 10,
    figures,
  })

  it('The table has the fastest engine first, and those with one caller after the others', () => {
    const rows = [
      makeRow('relay, 64 callers', [100]),
      makeRow('relay, 1 caller', [90]),
      makeRow('counterstep-mariadb, 64 callers', [1_900, 2_000, 2_200], {
        flushes: toSpread([0.126]),
        'store CPU µs': toSpread([49.6]),
        'memory MB': toSpread([149.6]),
        'store memory MB': toSpread([417]),
      }),
      makeRow('counterstep-mariadb, 1 caller', [50]),
    ]
    expect(peersTable(rows, [64, 1]).slice(1)).toEqual([
      [
        'Counterstep, MariaDB',
        '64',
        '2,000 (1,900 to 2,200)',
        '1.23',
        '5.7',
        '100 + 50',
        '0.13',
        '150 + 417',
      ],
      ['relay (nothing stored)', '64', '100 (100 to 100)', '1.23', '5.7', '100', '–', '–'],
      ['relay (nothing stored)', '1', '90 (90 to 90)', '1.23', '5.7', '100', '–', '–'],
      ['Counterstep, MariaDB', '1', '50 (50 to 50)', '1.23', '5.7', '100', '–', '–'],
    ])
  })

  it('One caller is measured once where no more are asked for', () => {
    expect(listCallers(1)).toEqual([1])
    expect(listCallers(64)).toEqual([64, 1])
  })
})

it('The memory of a process is its proportional share', () => {
  expect(parsePssBytes('Rss:  900 kB\nPss:                 512 kB\nPss_Anon:  100 kB\n')).toBe(524_288)
  expect(parsePssBytes('Rss: 1 kB\n')).toBeNaN()
})

describe('flushes', () => {
  const makeStat = (flushes: number) => `  1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 ${flushes} 17\n`

  it('The flushes of all disks are summed', () => {
    expect(sumFlushes([makeStat(3), makeStat(4)])).toBe(7)
  })

  it('Flushes are not known where a kernel does not count them, or where there is no disk', () => {
    expect(sumFlushes([makeStat(3), '1 2 3 4 5 6 7 8 9 10 11\n'])).toBeUndefined()
    expect(sumFlushes([])).toBeUndefined()
  })
})
