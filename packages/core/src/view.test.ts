import type { Status } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { after, answered, CREATED_AT, sagaOf, sent, serial } from '../test/sagas.ts'
import { table } from '../test/table.ts'
import type { Transaction } from './transaction.ts'
import { viewTransaction } from './view.ts'

const inFlight = after(serial(1), [sent([0, 'action'])])
const succeeded = after(inFlight, [answered(0, 'action', 'success')], CREATED_AT + 50)
const aborting = after(inFlight, [answered(0, 'action', 'failure')], CREATED_AT + 50)
const failed = after(
  aborting,
  [sent([0, 'compensate']), answered(0, 'compensate', 'success')],
  CREATED_AT + 90,
)
const stopped = after(aborting, [{ type: 'stop-asked' }], CREATED_AT + 90)

const STATES: Readonly<Record<string, Transaction>> = { succeeded, aborting, failed, stopped }

describe('a status that is not durable', () => {
  for (const { title, cells } of table`
    status     durable    → shown      abort  finishedAt
    succeeded  submitted  → submitted  no     no
    succeeded  succeeded  → succeeded  no     yes
    aborting   submitted  → submitted  no     no
    aborting   aborting   → aborting   yes    no
    failed     submitted  → submitted  no     no
    failed     aborting   → aborting   yes    no
    failed     failed     → failed     yes    yes
    stopped    aborting   → aborting   yes    no
    stopped    stopped    → stopped    yes    yes
  `) {
    it(`is not shown, nor what only it has: ${title}`, () => {
      const transaction = STATES[cells.status ?? '']
      if (transaction === undefined) throw new Error('no such state')
      const view = viewTransaction(transaction, cells.durable as Status)
      expect({
        status: view.status,
        abort: 'abort' in view ? 'yes' : 'no',
        finishedAt: 'finishedAt' in view ? 'yes' : 'no',
      }).toEqual({ status: cells.shown, abort: cells.abort, finishedAt: cells.finishedAt })
    })
  }
})

describe('the view', () => {
  it('shows why it turned around, by the id of the branch', () => {
    expect(viewTransaction(failed, 'failed')).toMatchObject({
      gid: 'order-4711',
      kind: 'saga',
      abort: { cause: 'branch-failed', branchId: '01', at: CREATED_AT + 50 },
      finishedAt: CREATED_AT + 90,
    })
  })

  it('has no branch in an abort that somebody asked for', () => {
    const view = viewTransaction(after(serial(1), [{ type: 'abort-asked' }]), 'aborting')
    expect(view.abort).toEqual({ cause: 'requested', at: CREATED_AT })
  })

  it('shows the start and the deadline as instants, and only where there are any', () => {
    const view = viewTransaction(serial(1, { delayMs: 1_000, deadlineMs: 5_000 }), 'submitted')
    expect(view).toMatchObject({ startAt: CREATED_AT + 1_000, deadlineAt: CREATED_AT + 5_000 })
    const plain = viewTransaction(serial(1), 'submitted')
    expect('startAt' in plain || 'deadlineAt' in plain).toBe(false)
  })

  it('names the branches before by id, and has no compensation where there is none', () => {
    const view = viewTransaction(sagaOf([{ after: [] }, { after: [0], compensation: false }]), 'submitted')
    expect(view.branches).toEqual([
      {
        id: '01',
        after: [],
        ops: [
          { op: 'action', url: 'http://bank.test/01/action', state: 'idle', attempts: 0 },
          { op: 'compensate', url: 'http://bank.test/01/compensate', state: 'idle', attempts: 0 },
        ],
      },
      {
        id: '02',
        after: ['01'],
        ops: [{ op: 'action', url: 'http://bank.test/02/action', state: 'idle', attempts: 0 }],
      },
    ])
  })

  it('shows the last answer of each op, and when it is asked again', () => {
    const waiting = after(serial(1), [
      sent([0, 'action']),
      answered(0, 'action', 'unknown', { statusCode: 503, excerpt: 'busy' }),
    ])
    expect(viewTransaction(waiting, 'submitted').branches[0]?.ops[0]).toEqual({
      op: 'action',
      url: 'http://bank.test/01/action',
      state: 'waiting',
      attempts: 1,
      result: 'unknown',
      statusCode: 503,
      answer: 'busy',
      error: 'timeout',
      startedAt: CREATED_AT,
      endedAt: CREATED_AT,
      durationMs: 7,
      nextAt: CREATED_AT + 200,
    })
  })

  it('shows what a person should look at', () => {
    const back = after(aborting, [sent([0, 'compensate']), answered(0, 'compensate', 'failure')])
    expect(viewTransaction(back, 'aborting').attention).toBe('compensation of branch 01 answered failure')
  })

  it('holds neither the payload nor a header', () => {
    const text = JSON.stringify(viewTransaction(failed, 'failed'))
    expect(text).not.toContain('body')
    expect(text).not.toContain('headers')
  })
})
