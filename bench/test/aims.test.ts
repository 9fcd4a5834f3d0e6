import { describe, expect, it } from 'vitest'
import { AIMS } from '../src/aims/aims.ts'
import { aimWords, assertAimsHaveRatios, findAim } from '../src/aims/find-aim.ts'
import type { Report } from '../src/report/report.ts'
import { toRatioBars } from '../src/report/to-ratio-bars.ts'
import { SCENARIOS } from '../src/scenarios.ts'
import { DEFAULT_SETTINGS } from '../src/settings.ts'
import { toSpread } from '../src/spread.ts'

function makeReport(scenario: string, store: string, connections: number, branches = 2): Report {
  return {
    scenario,
    at: '2026-01-02T03:04:05.678Z',
    store: { name: store, durabilityClass: 'A', failover: 'none', software: { version: '1', settings: {} } },
    settings: { ...DEFAULT_SETTINGS, connections, branches },
    machine: {
      commit: 'a',
      node: 'v24',
      cores: 2,
      cpu: 'a CPU',
      memoryGib: 4,
      flushMs: 0.2,
      isMemoryDisk: false,
      loadPerCore: 0,
    },
    rows: [],
    ratios: { 'saga/relay': 0.5 },
    ratioSpreads: { 'saga/relay': { spread: toSpread([0.5]) } },
    counters: {},
    notes: [],
  }
}

describe('the aim of a ratio', () => {
  it('Each aim belongs to a scenario that exists', () => {
    const names = SCENARIOS.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(Object.keys(AIMS)))
  })

  it('An aim holds only for its store and for the load that it was set for', () => {
    expect(findAim(makeReport('saga', 'redis', 64), 'saga/relay')?.value).toBe(0.6)
    expect(findAim(makeReport('saga', 'mysql', 64), 'saga/relay')?.value).toBe(0.45)
    expect(findAim(makeReport('saga', 'mysql', 1), 'saga/relay')).toBeUndefined()
    expect(findAim(makeReport('saga', 'mysql', 64, 5), 'saga/relay')).toBeUndefined()
    expect(findAim(makeReport('transfer', 'mysql', 20), 'saga/none-2sql')?.value).toBe(0.7)
  })

  it('An aim of the memory scenario holds only for its number of sagas', () => {
    const { settings, ...report } = makeReport('memory', 'sqlite', 64)
    expect(findAim({ ...report, settings: { ...settings, sagas: 100_000 } }, 'RSS/300 MB')?.value).toBe(1)
    expect(findAim({ ...report, settings: { ...settings, sagas: 1_000 } }, 'RSS/300 MB')).toBeUndefined()
  })

  it('A report that lacks the ratio of one of its aims is an error', () => {
    const report = makeReport('saga', 'mysql', 64)
    expect(() => assertAimsHaveRatios(report)).not.toThrow()
    expect(() => assertAimsHaveRatios({ ...report, ratios: { 'saga/other': 1 } })).toThrow(
      'saga has an aim for saga/relay, and no such ratio',
    )
  })

  it('A report may lack the ratio to a peer, which is skipped where it cannot be had', () => {
    const { settings, ...report } = makeReport('dtm', 'mysql', 64)
    const beside = { ...report, settings: { ...settings, peers: true } }
    expect(findAim(beside, 'dialect/dtm 1.19.0')?.value).toBe(4)
    expect(() => assertAimsHaveRatios(beside)).not.toThrow()
  })

  it('Other ratios and other scenarios have no aim', () => {
    expect(findAim(makeReport('saga', 'redis', 64), 'saga/relay, appendfsync always')).toBeUndefined()
    expect(findAim(makeReport('relay', 'redis', 64), 'saga/relay')).toBeUndefined()
  })

  it('The text of an aim says whether it is reached, and what a plain program reaches', () => {
    const atLeast = { name: 'a/b', settings: {}, is: 'at least', value: 0.45, byHand: 0.44 } as const
    expect(aimWords(atLeast, 0.45)).toBe('aim: at least 0.45, reached')
    expect(aimWords(atLeast, 0.44)).toMatch(/^aim: at least 0.45, not reached; by hand 0.44 \(/)
    const atMost = { name: 'a/b', settings: {}, is: 'at most', value: 1 } as const
    expect(aimWords(atMost, 1)).toBe('aim: at most 1, reached')
    expect(aimWords(atMost, 1.01)).toMatch(/^aim: at most 1, not reached \(/)
  })

  it('The aim and what was reached by hand are drawn under the bar of their ratio', () => {
    const [bar] = toRatioBars(makeReport('saga', 'mysql', 64))
    expect(bar?.seeds.map(({ source, ratio }) => [source, ratio])).toEqual([
      ['aim, at least', 0.45],
      ['a plain program by hand, 2 cores', 0.46],
      ['DTM on 2 cores, MySQL', 597 / 12_700],
    ])
  })
})
