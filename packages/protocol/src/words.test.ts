import { describe, expect, expectTypeOf, it } from 'vitest'
import { BODY_BYTES_MAX, DEADLINE_MS_MAX, PAYLOAD_BYTES_MAX } from './limits.ts'
import {
  FINAL_STATUSES,
  type FinalStatus,
  isFinalStatus,
  RESULTS,
  STATUSES,
  type Status,
  UNFINISHED_STATUSES,
} from './words.ts'

describe('the statuses', () => {
  it('A status is unfinished or final, and never both', () => {
    expect(STATUSES).toEqual([...UNFINISHED_STATUSES, ...FINAL_STATUSES])
    expect(new Set(STATUSES).size).toBe(STATUSES.length)
    expect(STATUSES.filter(isFinalStatus)).toEqual(FINAL_STATUSES)
    expectTypeOf<Extract<Status, FinalStatus>>().toEqualTypeOf<'succeeded' | 'failed' | 'stopped'>()
  })
})

describe('the results', () => {
  it('There are four results, and unknown is another one than failure', () => {
    expect(RESULTS).toEqual(['success', 'failure', 'ongoing', 'unknown'])
  })
})

describe('the limits', () => {
  it('The limits are those that the HTTP API promises', () => {
    expect([PAYLOAD_BYTES_MAX, BODY_BYTES_MAX, DEADLINE_MS_MAX]).toEqual([262_144, 1_048_576, 2_592_000_000])
  })
})
