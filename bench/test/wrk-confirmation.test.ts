import { describe, expect, it } from 'vitest'
import { type Ratio, type Row, toRatio } from '../src/row.ts'
import { toSpread } from '../src/spread.ts'
import { confirmationNotes, OURS_TO_WRK, withConfirmation } from '../src/wrk/confirmation.ts'
import { WRK_RATE } from '../src/wrk/wrk-rate.ts'

const WRK = { type: 'found', path: '/usr/bin/wrk' } as const

describe('what wrk says of the rows', () => {
  const row = (name: string, ours: number, wrk?: number): Row =>
    withConfirmation({
      name,
      perSecond: toSpread([ours]),
      p50Ms: null,
      p99Ms: null,
      cpuUs: null,
      answers: 1,
      figures: wrk === undefined ? {} : { [WRK_RATE]: toSpread([wrk]) },
    })

  const makeNotes = (rows: readonly Row[], ratios: readonly Ratio[] = []) =>
    confirmationNotes(WRK, { rows, ratios })

  it('A row that wrk measured, too, has the ratio of both rates', () => {
    expect(row('a', 90, 100).figures[OURS_TO_WRK]?.median).toBe(0.9)
  })

  it('A row is confirmed where the two rates are within the bound', () => {
    expect(makeNotes([row('a', 90, 100), row('b', 100, 90), row('c', 1)])).toEqual([
      'wrk confirms 2 of 3 rows within 15 %: autocannon/wrk is 0.90 to 1.11',
    ])
  })

  it('A caution names the rows whose rates are further apart', () => {
    expect(makeNotes([row('a', 100, 100), row('b', 80, 100)])).toEqual([
      expect.stringMatching(/^CAUTION: .*: b \(0\.80\)/),
    ])
  })

  it('A ratio of two rows is measured by wrk, too, where both rows were', () => {
    const ratio = toRatio('a/b', row('a', 80, 100), row('b', 40, 50))
    expect([ratio.spread.median, ratio.byWrk?.median]).toEqual([2, 2])
    expect(toRatio('a/c', row('a', 80, 100), row('c', 40))).not.toHaveProperty('byWrk')
  })

  it('A ratio is confirmed though the rates of both of its rows are further apart', () => {
    const [a, b, c] = [row('a', 80, 100), row('b', 40, 50), row('c', 40)]
    expect(makeNotes([a, b, c], [toRatio('a/b', a, b), toRatio('a/c', a, c)])[1]).toBe(
      'wrk confirms 1 of 2 ratios within 15 %: autocannon/wrk is 1.00 to 1.00',
    )
  })

  it('A caution names the ratios that are further apart', () => {
    const [a, b] = [row('a', 80, 100), row('b', 50, 50)]
    expect(makeNotes([a, b], [toRatio('a/b', a, b)])[1]).toMatch(/^CAUTION: .*: a\/b \(0\.80\)/)
  })

  it('A caution says why nothing is confirmed where there is no wrk', () => {
    const missing = { type: 'missing', reason: 'no wrk here' } as const
    expect(confirmationNotes(missing, { rows: [row('a', 100, 100)], ratios: [] })).toEqual([
      'CAUTION: wrk confirmed nothing: no wrk here',
    ])
  })

  it('A note says that wrk could measure no row', () => {
    expect(makeNotes([row('a', 1)])).toEqual([expect.stringMatching(/^wrk: no row/)])
  })
})
