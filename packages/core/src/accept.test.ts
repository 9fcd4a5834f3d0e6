import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { SETTINGS } from '../test/run-bed.ts'
import { CREATED_AT, TOKEN } from '../test/sagas.ts'
import { accepted, BRANCH, withFields } from '../test/submissions.ts'
import { newTransaction, newTransactionRow } from './accept.ts'
import { decodeTransaction } from './record.ts'

const IDS = { gid: 'order-4711' as Gid, digest: 'd'.repeat(64), token: TOKEN, writeId: 'w1' }

function row(fields: Readonly<Record<string, unknown>> = {}, settings = SETTINGS) {
  return newTransactionRow(accepted(withFields(fields)), IDS, settings)
}

describe('the row of an accepted transaction', () => {
  it('is owned by who accepted it, who knows what it will have sent', () => {
    expect(row()).toMatchObject({
      ...IDS,
      kind: 'saga',
      status: 'submitted',
      format: 1,
      progress: '{}',
      hold: { type: 'owned', leaseMs: SETTINGS.leaseMs },
      sentList: 'held',
    })
  })

  it('reads as the transaction that runs', () => {
    const submission = accepted({ branches: [BRANCH, BRANCH] })
    const written = newTransactionRow(submission, IDS, SETTINGS)
    const stored = decodeTransaction({
      ...written,
      version: 1,
      epoch: 1,
      owned: true,
      claimsWithoutProgress: 0,
      retrying: false,
      attention: false,
      createdAt: CREATED_AT,
      updatedAt: CREATED_AT,
      dueAt: CREATED_AT,
    })
    expect(stored).toEqual(newTransaction(submission, IDS, CREATED_AT))
  })
})

describe('a start that is further away than holdMs', () => {
  it('is left to the due index, with a list that is known to be empty', () => {
    expect(row({ delayMs: 1_001 })).toMatchObject({
      hold: { type: 'waiting', dueInMs: 1_001 },
      sentList: 'released',
    })
  })

  it('is waited for in memory at exactly holdMs', () => {
    expect(row({ delayMs: 1_000 }).hold.type).toBe('owned')
  })

  it('is looked at at the deadline when that is earlier', () => {
    expect(row({ delayMs: 60_000, deadlineMs: 5_000 }).hold).toEqual({ type: 'waiting', dueInMs: 5_000 })
  })

  it('is not trusted later where a write may be lost', () => {
    expect(row({ delayMs: 60_000 }, { ...SETTINGS, releaseKeepsSentList: false }).sentList).toBe('held')
  })
})
