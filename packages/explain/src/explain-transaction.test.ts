import type { OpView, TransactionView } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { describeWorkflow } from './describe-workflow.ts'
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
  it('A transaction from a clock that has been set back says so, and what to do', () => {
    const ahead = view({ createdAt: NOW + 3_600_000 })
    expect(explainTransaction(ahead, { now: NOW }).advice).toMatch(
      /^The clock has been set back since it was accepted, which is 1 h ahead of now\..* a retry makes/,
    )
    expect(explainTransaction(view({ createdAt: NOW + 1_000 }), { now: NOW }).advice).toBeUndefined()
  })

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
      'an end with something that has no undo',
      {
        status: 'failed',
        finishedAt: NOW,
        branches: [
          {
            id: 'pay',
            after: [],
            ops: [op({ state: 'succeeded' }), op({ op: 'compensate', state: 'succeeded' })],
          },
          { id: 'ship', after: [], ops: [op({ state: 'succeeded' })] },
          { id: 'pause', after: [], wait: { ms: 5 }, ops: [op({ state: 'succeeded' })] },
          { id: 'quote', after: [], is: 'run', ops: [op({ state: 'succeeded' })] },
          ...['a', 'b', 'c'].map((id) => ({ id, after: [], ops: [op({ state: 'succeeded' })] })),
        ],
      },
      'Everything that may have run is undone, after 1 min. What has no undo stays as it was done: ship, a, b, and 1 more.',
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

const ORDER = {
  name: 'order',
  version: 1,
  generation: 1,
  plan: 2,
  steps: 1,
  stepsMax: 1_000,
  journalBytes: 412,
  journalBytesMax: 1_048_576,
}

function workflow(fields: Partial<TransactionView>): TransactionView {
  return view({ kind: 'workflow', workflow: ORDER, plan: op({ op: 'plan', state: 'succeeded' }), ...fields })
}

describe('explainTransaction of a workflow', () => {
  const asked = op({ op: 'plan', state: 'waiting', attempts: 3, service: 'shop', nextAt: NOW + 4_000 })

  it('An answer that is no plan is explained by what is wrong with it', () => {
    const stuck = workflow({
      plan: { ...asked, statusCode: 200, error: 'bad-plan', answer: '<html>' },
      attention: 'the plan cannot be carried out: the answer is not JSON',
    })
    expect(explainTransaction(stuck, { now: NOW })).toEqual({
      headline:
        'The handler of order answers no plan that can be carried out, attempt 3: “the answer is not JSON”.',
      next: 'Next attempt in 4.0 s. Nothing is undone because of it.',
      advice:
        'Look at what answers at the URL of the handler: another service, or a proxy. Once it answers a plan, the workflow goes on.',
    })
  })

  it('A refusal of changed code names its code, and says what the handler says', () => {
    const refused = workflow({
      plan: { ...asked, statusCode: 200, error: 'WORKFLOW_CHANGED' },
      attention: 'the plan was refused with WORKFLOW_CHANGED: charge was a call: and is a step',
    })
    const { headline, advice } = explainTransaction(refused, { now: NOW })
    expect(headline).toBe(
      'The handler of order refuses with WORKFLOW_CHANGED, because its code asks for something else than is recorded, attempt 3: “charge was a call: and is a step”.',
    )
    expect(advice).toContain('abort it, which asks no code')
  })

  it('A 409 to a plan call is no refusal of anything, and what was wrong with an earlier answer is not said of it', () => {
    const attention = 'the plan cannot be carried out: the answer is not JSON'
    const gateway = workflow({ plan: { ...asked, statusCode: 409 }, attention })
    const { headline, advice } = explainTransaction(gateway, { now: NOW })
    expect(headline).toBe('The handler of order answers 409, attempt 3.')
    expect(advice).toContain('Only 200 with a plan counts')
  })

  const reserve = { id: '~1', after: [], is: 'step', name: 'reserve', stepId: 'reserve', rank: 1 } as const

  it('A local step has the name that its code gives it, and nothing is advised that a step cannot have', () => {
    const missing = op({ state: 'waiting', attempts: 2, statusCode: 404, service: 'shop', nextAt: NOW + 500 })
    const stuck = workflow({ branches: [{ ...reserve, ops: [missing] }] })
    const { headline, next, advice } = explainTransaction(stuck, { now: NOW })
    expect(headline).toBe('shop answers 404 to the action of reserve, attempt 2.')
    expect(next).toBe('Next attempt in 500 ms. Then its code says what follows.')
    expect(advice).toMatch(/A step of a workflow can be neither edited nor skipped\.$/)
  })

  for (const [name, fields, headline] of [
    [
      'a plan call',
      { plan: op({ op: 'plan', state: 'calling', attempts: 1 }) },
      'its code is asked what comes next',
    ],
    [
      'a call',
      { branches: [{ ...reserve, ops: [op({ state: 'calling', attempts: 1 })] }] },
      'the action of reserve is being called',
    ],
  ] as const) {
    it(`Explains ${name} in flight`, () =>
      expect(explainTransaction(workflow(fields), { now: NOW }).headline).toBe(`It is running: ${headline}.`))
  }

  it('A wait for a signal, and the end, are those of its code', () => {
    const open = op({ state: 'open', nextAt: NOW + 3_600_000 })
    const wait = { signal: 'approval', onTimeout: 'continue' } as const
    const waiting = workflow({ branches: [{ id: 'ask', after: [], is: 'signal', wait, ops: [open] }] })
    expect(explainTransaction(waiting, { now: NOW })).toEqual({
      headline: 'ask waits for the signal “approval”.',
      next: 'Without it the workflow goes on in 1 h.',
    })
    const ended = workflow({ status: 'succeeded', finishedAt: NOW })
    expect(explainTransaction(ended, { now: NOW }).headline).toBe('Its code has returned, after 1 min.')
  })

  it('It says how much it has recorded, of what it may', () => {
    expect(describeWorkflow(ORDER)).toBe(
      'order, version 1, plan 2: 1 of 1000 steps, 412 B of 1 MiB in its journal',
    )
    const { version: _, ...unplanned } = { ...ORDER, plan: 1, steps: 0, journalBytes: 900_000 }
    expect(describeWorkflow({ ...ORDER, generation: 12 })).toContain(
      'order, version 1, generation 12, plan 2',
    )
    expect(describeWorkflow(unplanned)).toBe(
      'order, plan 1: 0 of 1000 steps, 879 KiB of 1 MiB in its journal',
    )
  })
})
