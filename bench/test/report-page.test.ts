import { describe, expect, it } from 'vitest'
import { groupSeries } from '../src/report/charts/series.ts'
import { combinedPage } from '../src/report/html/combined-page.ts'
import { formatFigure, formatTick } from '../src/report/html/figures.ts'
import { html } from '../src/report/html/markup.ts'
import { reportPage } from '../src/report/html/report-page.ts'
import type { Report } from '../src/report/report.ts'
import { linearScale, logScale } from '../src/report/svg/scale.ts'
import type { Row } from '../src/row.ts'
import { DEFAULT_SETTINGS } from '../src/settings.ts'
import { toSpread } from '../src/spread.ts'

const HOSTILE = `<script>alert("1")</script>'&`

function rowNamed(name: string, perSecond: number): Row {
  return {
    name,
    perSecond: toSpread([perSecond, perSecond * 2]),
    p50Ms: toSpread([1, 2]),
    p99Ms: toSpread([8, 9]),
    latencyCurve: [
      { share: 0, ms: 0.5 },
      { share: 0.95, ms: 4.5 },
      { share: 1, ms: 20 },
    ],
    cpuUs: null,
    answers: 1234,
    figures: { 'DB-TPS': toSpread([777]) },
  }
}

function reportWith(more: Partial<Report>): Report {
  return {
    scenario: 'saga',
    at: '2026-01-02T03:04:05.678Z',
    store: {
      name: 'sqlite',
      durabilityClass: 'A',
      failover: 'none',
      software: { version: 'a database 1.2', settings: { synchronous: 'full' } },
    },
    settings: DEFAULT_SETTINGS,
    machine: {
      commit: 'abcdef1234',
      node: 'v24.0.0',
      cores: 2,
      cpu: 'a CPU',
      memoryGib: 4,
      flushMs: 0.2,
      isMemoryDisk: false,
      loadPerCore: 0.1,
    },
    rows: [rowNamed('relay', 100), rowNamed('saga', 50)],
    ratios: { 'saga/relay': 0.5 },
    ratioSpreads: { 'saga/relay': { spread: toSpread([0.4, 0.5, 0.6]) } },
    counters: { stored: 5 },
    notes: ['a plain note', 'CAUTION: something spoils this'],
    ...more,
  }
}

describe('markup', () => {
  it('Markup escapes what is put into it, in text and in attributes', () => {
    expect(String(html`<p title="${HOSTILE}">${HOSTILE}</p>`)).not.toMatch(/<script|"1"|'&$/)
    expect(String(html`${'a&b'}`)).toBe('a&amp;b')
  })

  it('Markup that is put into markup stays as it is', () => {
    expect(String(html`<ul>${[html`<li>1</li>`, html`<li>${'<'}</li>`]}</ul>`)).toBe(
      '<ul><li>1</li>\n<li>&lt;</li></ul>',
    )
  })
})

describe('the page of a run', () => {
  const text = reportPage(reportWith({}))

  it('The page of a run stands alone: it fetches nothing and runs nothing', () => {
    expect(text).not.toMatch(/<script|<link|<img|@import|url\(|https?:\/\//)
    expect(text).toContain('prefers-color-scheme: dark')
    expect(text).toContain('name="viewport"')
  })

  it('The page of a run says where, on what and how it was measured', () => {
    for (const fact of ['abcdef1234', 'a CPU', 'a database 1.2', 'synchronous=full', 'class A', 'rounds=3'])
      expect(text).toContain(fact)
  })

  it('The page of a run shows its warnings apart from the notes', () => {
    expect(text).toContain('<strong>CAUTION</strong> something spoils this')
    expect(text).toContain('<li>a plain note</li>')
    expect(text).not.toContain('<li>CAUTION')
  })

  it('The page of a run shows the ratio beside those of others, each round, and the latency curve', () => {
    expect(text).toContain('saga/relay: 0.500, 0.400 to 0.600')
    expect(text).toContain('DTM on 2 cores, embedded bolt: 0.0542')
    expect(text).not.toContain('DTM on 2 cores, MySQL')
    expect(text).toContain('round 2: 200')
    expect(text).toContain('saga: 95 % within 4.50 ms')
  })

  it('The name of a row, a figure or a note never becomes markup', () => {
    const report = reportWith({
      rows: [{ ...rowNamed(HOSTILE, 1), figures: { [HOSTILE]: toSpread([1]) } }],
      ratioSpreads: { [HOSTILE]: { spread: toSpread([1]) } },
      notes: [HOSTILE],
      counters: { [HOSTILE]: 1 },
    })
    expect(reportPage(report)).not.toContain('<script')
  })
})

describe('the page of all runs', () => {
  it('The page of all runs has our figures in the lines under those of the reference benchmarks', () => {
    const transfer = reportWith({
      scenario: 'transfer',
      rows: [rowNamed('none-2sql', 4_000), rowNamed('saga-2sql', 3_000)],
      ratios: { 'saga/none-2sql': 0.75 },
    })
    const text = combinedPage([transfer], [], '2026-01-02T03:04:05Z')
    const findCells = (head: string) =>
      new RegExp(`${head}</th>([^]*?)</tr>`)
        .exec(text)?.[1]
        ?.replaceAll(/<td>|<\/td>/g, ' ')
        .trim()
        .split(/\s+/)
    expect(findCells('Global-TPS, theirs')).toEqual([
      '–',
      '–',
      '1,232',
      '575',
      '531',
      '551',
      '357',
      '341',
      '–',
    ])
    expect(findCells('Global-TPS, ours')).toEqual(['–', '–', '6,000', '4,500', '–', '–', '–', '–', '–'])
    expect(findCells('of no saga, ours')?.[3]).toBe('0.750')
    expect(findCells('DB-TPS, ours')?.[2]).toBe('777')
    expect(text).toContain('There is no run of hot-row on this page.')
  })

  it('The page of all runs names what failed', () => {
    const text = combinedPage(
      [],
      [{ name: 'submit, mariadb', message: 'it <broke>' }],
      '2026-01-02T03:04:05Z',
    )
    expect(text).toContain('<strong>FAILED</strong> submit, mariadb: it &lt;broke&gt;')
  })
})

describe('series', () => {
  it('Rows whose names differ by the number of one thing are a series', () => {
    const rows = ['plain, 1 caller', 'plain, 8 callers', 'plain, 64 callers', 'plain, 5 ms flush'].map(
      (name) => rowNamed(name, 1),
    )
    const [group, ...others] = groupSeries(rows)
    expect(others).toEqual([])
    expect(group?.unit).toBe('callers')
    expect(group?.series.map(({ name, points }) => [name, points.map(({ x }) => x)])).toEqual([
      ['plain', [1, 8, 64]],
    ])
  })

  it.each([
    ['durable, 8 connections, 5 ms flush', 'durable, 5 ms flush', 'connections', 8],
    ['20 branches, at once', 'at once', 'branches', 20],
    ['durable, 5 ms flush', '', undefined, undefined],
    ['a claim of 1,000,000 rows', 'a claim of', 'rows', 1_000_000],
    ['finished rows: 100000', '', 'finished rows', 100_000],
  ])('The series of a row and its number are read from the name %j', (name, what, unit, x) => {
    const [group] = groupSeries([rowNamed(name, 1), rowNamed(name, 1), rowNamed(name, 1)])
    expect(group?.unit).toBe(unit)
    if (unit !== undefined)
      expect(group?.series).toMatchObject([{ name: what, points: [{ x }, { x }, { x }] }])
  })

  it('Two points are no series', () => {
    expect(groupSeries([rowNamed('fresh, 64 callers', 1), rowNamed('fresh, 256 callers', 1)])).toEqual([])
  })
})

describe('a scale', () => {
  it.each([
    [1, [0, 0.25, 0.5, 0.75, 1]],
    [14_518, [0, 5_000, 10_000, 15_000]],
    [0, [0, 0.25, 0.5, 0.75, 1]],
  ])('A linear scale to %d has round ticks', (max, ticks) => {
    const scale = linearScale(max, { from: 0, to: 100 })
    expect(scale.ticks).toEqual(ticks)
    expect(scale.at(ticks.at(-1) ?? 0)).toBe(100)
  })

  it('A logarithmic scale doubles over a small span, and has powers of ten over a large one', () => {
    expect(logScale(3, 9, { from: 0, to: 1 }).ticks).toEqual([2, 4, 8, 16])
    expect(logScale(0.5, 900, { from: 0, to: 1 }).ticks.map((tick) => Number(tick.toPrecision(3)))).toEqual([
      0.1, 1, 10, 100, 1_000,
    ])
  })
})

describe('figures for people', () => {
  it.each([
    [0.0470081, '0.0470'],
    [0.5, '0.500'],
    [13.61, '13.6'],
    [12, '12'],
    [12_345.6, '12,346'],
    [Number.NaN, '–'],
    [undefined, '–'],
  ])('The figure %d is shown as %s', (value, text) => expect(formatFigure(value)).toBe(text))

  it.each([
    [2_500, '2.5k'],
    [1_000_000, '1M'],
    [0.25, '0.25'],
  ])('The figure %d is shown at an axis as %s', (value, text) => expect(formatTick(value)).toBe(text))
})
