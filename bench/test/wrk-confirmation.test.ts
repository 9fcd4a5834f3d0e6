import { describe, expect, it } from 'vitest'
import type { Row } from '../src/row.ts'
import { spreadOf } from '../src/spread.ts'
import { confirmationNote, OURS_TO_WRK, WRK_RATE, withConfirmation } from '../src/wrk/confirmation.ts'

const WRK = { type: 'found', path: '/usr/bin/wrk' } as const

describe('what wrk says of the rows', () => {
  const row = (name: string, ours: number, wrk?: number): Row =>
    withConfirmation({
      name,
      perSecond: spreadOf([ours]),
      p50Ms: null,
      p99Ms: null,
      cpuUs: null,
      answers: 1,
      figures: wrk === undefined ? {} : { [WRK_RATE]: spreadOf([wrk]) },
    })

  it('is a ratio for each row', () => {
    expect(row('a', 90, 100).figures[OURS_TO_WRK]?.median).toBe(0.9)
  })

  it('is a confirmation within its bound', () => {
    expect(confirmationNote(WRK, [row('a', 90, 100), row('b', 100, 90), row('c', 1)])).toBe(
      'wrk confirms 2 of 3 rows within 15 %: autocannon/wrk is 0.90 to 1.11',
    )
  })

  it('names the rows that are further apart', () => {
    expect(confirmationNote(WRK, [row('a', 100, 100), row('b', 80, 100)])).toMatch(
      /^CAUTION: .*: b \(0\.80\)/,
    )
  })

  it('says why there is none where there is no wrk', () => {
    const missing = { type: 'missing', reason: 'no wrk here' } as const
    expect(confirmationNote(missing, [row('a', 100, 100)])).toBe(
      'CAUTION: wrk confirmed nothing: no wrk here',
    )
  })

  it('says so where it could ask nothing', () => {
    expect(confirmationNote(WRK, [row('a', 1)])).toMatch(/^wrk: no row/)
  })
})
