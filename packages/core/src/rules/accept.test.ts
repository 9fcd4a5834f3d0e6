import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { SETTINGS } from '../../test/run-fixture.ts'
import { CREATED_AT, TOKEN } from '../../test/sagas.ts'
import { accepted, BRANCH, parse, withFields } from '../../test/submissions.ts'
import { decodeTransaction } from '../record/record.ts'
import { newTransaction, newTransactionRow } from './accept.ts'

const IDS = { gid: 'order-4711' as Gid, digest: 'd'.repeat(64), token: TOKEN, writeId: 'w1' }

function row(fields: Readonly<Record<string, unknown>> = {}, settings = SETTINGS) {
  return newTransactionRow(accepted(withFields(fields)), IDS, settings)
}

describe('the row of an accepted transaction', () => {
  it('The row of an accepted transaction is owned by its creator and has a complete list of sent actions', () => {
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

  it('The row of an accepted transaction decodes to the transaction that runs', () => {
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
  it('A start beyond holdMs is left to the due index, with a list that is known to be empty', () => {
    expect(row({ delayMs: 1_001 })).toMatchObject({
      hold: { type: 'waiting', dueInMs: 1_001 },
      sentList: 'released',
    })
  })

  it('A start at exactly holdMs is waited for in memory', () => {
    expect(row({ delayMs: 1_000 }).hold.type).toBe('owned')
  })

  it('A delayed row is due at its deadline when that is earlier', () => {
    expect(row({ delayMs: 60_000, deadlineMs: 5_000 }).hold).toEqual({ type: 'waiting', dueInMs: 5_000 })
  })

  it('The list of a delayed row is not trusted where a write may be lost', () => {
    expect(row({ delayMs: 60_000 }, { ...SETTINGS, releaseKeepsSentList: false }).sentList).toBe('held')
  })
})

describe('a row that is prepared', () => {
  const prepared = (body: object) => {
    const parsed = parse(body)
    if (parsed.type === 'refused') throw new Error('it was refused')
    return newTransactionRow(parsed.submission, IDS, SETTINGS)
  }
  const check = { url: 'http://bank.test/query', afterMs: 700 }

  it.each([
    ['a TCC, until its deadline', { kind: 'tcc', deadlineMs: 500 }, 500],
    ['a TCC, until its default deadline', { kind: 'tcc' }, 35_000],
    ['a message, until its sender is asked', { kind: 'message', branches: [BRANCH], check }, 700],
    ['a message with a later start', { kind: 'message', branches: [BRANCH], check, delayMs: 9_000 }, 700],
  ])(
    'A prepared row waits for its client, however short the wait is, and has no owner: %s',
    (_, body, dueInMs) => {
      expect(prepared(body)).toMatchObject({
        status: 'prepared',
        format: 2,
        progress: '{}',
        hold: { type: 'waiting', dueInMs },
        sentList: 'released',
      })
    },
  )

  it.each([
    ['is run at once', {}, { type: 'owned', leaseMs: SETTINGS.leaseMs }],
    ['is held for a short delay', { delayMs: SETTINGS.holdMs }, { type: 'owned', leaseMs: SETTINGS.leaseMs }],
    ['waits for a longer one', { delayMs: SETTINGS.holdMs + 1 }, { type: 'waiting', dueInMs: 1_001 }],
  ])('is not what a message without a query-back is: it %s', (_, fields, hold) => {
    const body = { kind: 'message', branches: [BRANCH], ...fields }
    expect(prepared(body)).toMatchObject({ kind: 'message', status: 'submitted', format: 2, hold })
  })
})
