import type { OpView, TransactionView } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { explainTransaction } from './explain-transaction.ts'

const NOW = Date.parse('2027-03-01T03:01:00Z')

function op(fields: Partial<OpView>): OpView {
  return { op: 'action', state: 'idle', attempts: 0, ...fields }
}

function view(fields: Partial<TransactionView>): TransactionView {
  return {
    gid: 'order-4711',
    kind: 'saga',
    status: 'submitted',
    createdAt: NOW - 60_000,
    updatedAt: NOW - 1_000,
    epoch: 1,
    branches: [],
    ...fields,
  }
}

const stuckUndo = view({
  status: 'aborting',
  attention: 'since 03:00',
  abort: { cause: 'branch-failed', branchId: 'credit', at: NOW - 51 * 60_000, message: 'account frozen' },
  branches: [
    {
      id: 'debit',
      after: [],
      ops: [
        op({ state: 'succeeded', attempts: 1, statusCode: 200 }),
        op({
          op: 'compensate',
          state: 'waiting',
          attempts: 52,
          statusCode: 500,
          service: 'bank-a',
          answer: '{"error":"lock wait timeout"}',
          nextAt: NOW + 41_000,
          runs: [{ outcome: '500', from: 41, count: 12, firstAt: NOW - 13 * 60_000, lastAt: NOW - 1_000 }],
        }),
      ],
    },
    { id: 'credit', after: ['debit'], ops: [op({ state: 'failed', attempts: 1, statusCode: 409 })] },
  ],
})

describe('explainTransaction', () => {
  it('A stuck compensation is explained by its service, the cause of the turn, and the next attempt', () => {
    expect(explainTransaction(stuckUndo, { now: NOW })).toEqual({
      headline:
        'bank-a answers 500 to the compensation of debit since 02:48:00 UTC, attempt 52: “lock wait timeout”.',
      cause: 'It turned around at 02:10:00 UTC, because credit refused: “account frozen”.',
      next: 'Next attempt in 41 s. It is the last call: then the transaction ends.',
      advice: 'The service runs and fails: its own log has the reason.',
    })
  })

  it('A refusal of what cannot be given up is a sentence', () => {
    const refused = op({
      op: 'compensate',
      state: 'waiting',
      attempts: 2,
      statusCode: 409,
      service: 'bank-a',
    })
    const stuck = view({ status: 'aborting', branches: [{ id: 'debit', after: [], ops: [refused] }] })
    expect(explainTransaction(stuck, { now: NOW }).headline).toBe(
      'bank-a answers 409: it refuses the compensation of debit, attempt 2.',
    )
  })

  it('A service that asks for patience needs no advice until it needs a person', () => {
    const waiting = op({
      state: 'waiting',
      attempts: 2,
      statusCode: 425,
      service: 'bank-a',
      nextAt: NOW + 500,
    })
    const patient = view({ branches: [{ id: 'a', after: [], ops: [waiting] }] })
    expect(explainTransaction(patient, { now: NOW }).advice).toBeUndefined()
    expect(explainTransaction({ ...patient, attention: 'x' }, { now: NOW }).advice).toContain('later')
  })

  for (const [name, fields, headline] of [
    ['a success', { status: 'succeeded', finishedAt: NOW }, 'Every branch is done, after 1 min.'],
    [
      'a stop',
      { status: 'stopped', finishedAt: NOW },
      'An operator ended it as it was. Nothing was undone after that.',
    ],
    [
      'an end without effects',
      { status: 'failed', finishedAt: NOW },
      'It ended without anything to undo, after 1 min.',
    ],
    [
      'a pause',
      { paused: { at: NOW, by: { via: 'console', person: 'kim' } } },
      'It is paused until it is resumed: no call starts.',
    ],
    [
      'a wait for a signal',
      {
        branches: [
          {
            id: 'ask',
            after: [],
            wait: { signal: 'approval' },
            ops: [op({ state: 'open', nextAt: NOW + 3_600_000 })],
          },
        ],
      },
      'ask waits for the signal “approval”.',
    ],
    [
      'a prepared message',
      { kind: 'message', status: 'prepared', checkAt: NOW + 5_000 },
      'It is prepared, and waits for its client to submit or abort it.',
    ],
    [
      'a call in flight',
      { branches: [{ id: 'a', after: [], ops: [op({ state: 'calling', attempts: 1 })] }] },
      'It is running: the action of a is being called.',
    ],
    ['a problem without a call', { problem: '– record-unreadable' }, 'Its record cannot be read.'],
    [
      'an action that was done by hand',
      {
        status: 'aborting',
        branches: [{ id: 'a', after: [], ops: [op({ op: 'compensate', state: 'by-hand' })] }],
      },
      'The action of a was done by hand, so a person must undo it by hand.',
    ],
  ] as const) {
    it(`Explains ${name}`, () =>
      expect(explainTransaction(view(fields as Partial<TransactionView>), { now: NOW }).headline).toBe(
        headline,
      ))
  }

  it('A foreign text cannot turn the sentence around, or break its line', () => {
    const hostile = view({
      status: 'failed',
      finishedAt: NOW,
      abort: { cause: 'requested', at: NOW, reason: 'a\u202Eb\nc "><img onerror>' },
    })
    expect(explainTransaction(hostile, { now: NOW }).cause).toBe(
      'It turned around at 03:01:00 UTC, because its abort was asked for: “a b c "><img onerror>”.',
    )
  })
})
