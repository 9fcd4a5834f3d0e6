import { expect, it } from 'vitest'
import { audit, type Evidence } from '../src/overload/audit.ts'
import type { Submitted } from '../src/overload/submitter.ts'

function submitted(gid: string, statusCode: number, code?: string): Submitted {
  const times = { intendedAt: 0, endedAt: 1 }
  return { gid, ...times, statusCode, code, retryAfter: '1', status: undefined }
}

const SOUND: Evidence = {
  submitted: [submitted('a', 200), submitted('b', 503, 'SAGA_OVER_CAPACITY')],
  calls: [['a', 1, 1, 0]],
  rows: [{ gid: 'a', isFinal: true }],
}

it('The audit of an overload accepts what was accepted and done, and what was refused and not done', () => {
  expect(audit(SOUND)).toEqual({
    accepted: 1,
    refused: 1,
    unclear: 0,
    lost: 0,
    refusedThatRan: 0,
    unfinishedWork: 0,
    repeatedCalls: 0,
  })
})

it('The audit of an overload finds what was accepted and is not final', () => {
  expect(audit({ ...SOUND, rows: [] }).lost).toBe(1)
  expect(audit({ ...SOUND, rows: [{ gid: 'a', isFinal: false }] }).lost).toBe(1)
  expect(audit({ ...SOUND, calls: [['a', 1, 0, 0]] }).unfinishedWork).toBe(1)
})

it('The audit of an overload finds what was refused and ran, or is stored', () => {
  expect(audit({ ...SOUND, calls: [...SOUND.calls, ['b', 1, 0, 0]] }).refusedThatRan).toBe(1)
  expect(audit({ ...SOUND, rows: [...SOUND.rows, { gid: 'b', isFinal: true }] }).refusedThatRan).toBe(1)
})

it('The audit of an overload takes an answer that leaves the outcome open for no refusal', () => {
  const open = { ...SOUND, submitted: [submitted('a', 503, 'SAGA_OUTCOME_UNKNOWN')] }
  expect(audit(open)).toMatchObject({ refused: 0, unclear: 1, refusedThatRan: 0 })
})
