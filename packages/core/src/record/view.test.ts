import type { Status } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import {
  ABORT,
  answering,
  buildMessage,
  buildPlainMessage,
  buildTcc,
  CHECK_AFTER_MS,
  CHECK_AT,
  folded,
  SUBMIT,
  TCC_DEADLINE_MS,
  tccBranchAt,
} from '../../test/prepared.ts'
import { after, answered, buildSaga, CREATED_AT, sent, serial } from '../../test/sagas.ts'
import { table } from '../../test/table.ts'
import type { Transaction } from '../transaction.ts'
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
  it('The view shows why a saga aborted, with the id of the branch', () => {
    expect(viewTransaction(failed, 'failed')).toMatchObject({
      gid: 'order-4711',
      kind: 'saga',
      abort: { cause: 'branch-failed', branchId: '01', at: CREATED_AT + 50 },
      finishedAt: CREATED_AT + 90,
    })
  })

  it('The view shows the name, the tags and what it waits for, until it is final', () => {
    const naming = { name: 'transfer', tags: { region: 'eu' } }
    const waiting = after(serial(1, naming), [sent([0, 'action']), answered(0, 'action', 'unknown')])
    const view = viewTransaction(waiting, 'submitted')
    expect(view).toMatchObject({ ...naming, problem: 'bank.test action timeout' })
    const ended = after(waiting, [sent([0, 'action']), answered(0, 'action', 'success', { attempt: 2 })])
    expect(viewTransaction(ended, 'succeeded')).toMatchObject(naming)
    expect(viewTransaction(ended, 'succeeded')).not.toHaveProperty('problem')
    for (const field of ['name', 'tags', 'problem'])
      expect(viewTransaction(inFlight, 'submitted')).not.toHaveProperty(field)
  })

  it('An op shows its service and how its attempts ended, and neither a query nor a secret', () => {
    const action = 'https://user:s3cr3t@bank.test:8443/debit?token=s3cr3t'
    const saga = serial(1)
    const branches = saga.definition.branches.map((branch) => ({ ...branch, action }))
    const named = { ...saga, definition: { ...saga.definition, branches } }
    const waiting = after(named, [
      sent([0, 'action']),
      answered(0, 'action', 'unknown', { excerpt: 'lock wait' }),
    ])
    const [op] = viewTransaction(waiting, 'submitted').branches[0]?.ops ?? []
    expect(op).toMatchObject({
      service: 'bank.test:8443',
      runs: [{ outcome: 'timeout', from: 1, count: 1, excerpt: 'lock wait' }],
    })
    expect(JSON.stringify([op?.service, op?.runs])).not.toContain('s3cr3t')
    expect(viewTransaction(succeeded, 'succeeded').branches[0]?.ops[0]).not.toHaveProperty('runs')
  })

  it('S28: shows where each op and a check go without their queries, which may have a secret', () => {
    const url = 'http://bank.test/confirm'
    const message = buildMessage(1, {
      check: { url: `${url}?token=a?b`, afterMs: CHECK_AFTER_MS, headers: {} },
    })
    expect(viewTransaction(message, 'prepared').check?.url).toBe(url)
    const tcc = buildTcc(1, {}, { confirm: `${url}?token=a`, cancel: `${url}?` })
    expect(viewTransaction(tcc, 'prepared').branches[0]?.ops.map((op) => op.url)).toEqual([url, url])
  })

  for (const { answer, shown } of [
    {
      answer: '{"code":"INSUFFICIENT_FUNDS","message":"not enough money","details":{"cents":5}}',
      shown: { code: 'INSUFFICIENT_FUNDS', message: 'not enough money' },
    },
    {
      answer: '{"code":"C\\u009bD","message":"\\u001b[2J\\u202egone\\n"}',
      shown: { code: 'C\u{fffd}D', message: '\u{fffd}[2J\u{fffd}gone\n' },
    },
    { answer: ' {"code":"NO_SEAT"}', shown: { code: 'NO_SEAT' } },
    { answer: '{"code":"NO_SEAT","message":7}', shown: { code: 'NO_SEAT' } },
    { answer: '{"code":"NO_SEAT","message":"cut at its bou', shown: {} },
    { answer: '{"message":"no code"}', shown: {} },
    { answer: '{"code":409}', shown: {} },
    { answer: '["code"]', shown: {} },
    { answer: 'sold out', shown: {} },
    { answer: `{"code":"LONG","message":"${'x'.repeat(1024)}"}`, shown: {} },
    { answer: undefined, shown: {} },
  ]) {
    const title = `${answer}`.slice(0, 50)
    const said = answer === undefined ? {} : { excerpt: answer }
    const bare = { cause: 'branch-failed', branchId: '01', at: CREATED_AT }

    it(`shows the code and the message that the branch answered: ${title}`, () => {
      const refused = after(inFlight, [answered(0, 'action', 'failure', said)])
      const { abort, branches } = viewTransaction(refused, 'aborting')
      expect(abort).toEqual({ ...bare, ...shown })
      expect(branches[0]?.ops[0]?.answer).toBe(answer)
    })

    it(`shows the code and the message of a reason, and the reason as it is: ${title}`, () => {
      const reason = answer === undefined ? {} : { reason: answer }
      const view = viewTransaction(after(serial(1), [{ type: 'abort-asked', ...reason }]), 'aborting')
      expect(view.abort).toEqual({ cause: 'requested', at: CREATED_AT, ...reason, ...shown })
    })
  }

  it('The view names no branch for a requested abort', () => {
    const view = viewTransaction(after(serial(1), [{ type: 'abort-asked' }]), 'aborting')
    expect(view.abort).toEqual({ cause: 'requested', at: CREATED_AT })
  })

  it('The view shows the start and the deadline as instants, where there are any', () => {
    const view = viewTransaction(serial(1, { delayMs: 1_000, deadlineMs: 5_000 }), 'submitted')
    expect(view).toMatchObject({ startAt: CREATED_AT + 1_000, deadlineAt: CREATED_AT + 5_000 })
    const plain = viewTransaction(serial(1), 'submitted')
    expect('startAt' in plain || 'deadlineAt' in plain).toBe(false)
  })

  it('The view names predecessors by id, and shows no compensation where there is none', () => {
    const view = viewTransaction(buildSaga([{ after: [] }, { after: [0], compensation: false }]), 'submitted')
    expect(view.branches).toEqual([
      {
        id: '01',
        after: [],
        ops: [
          {
            op: 'action',
            url: 'http://bank.test/01/action',
            service: 'bank.test',
            state: 'idle',
            attempts: 0,
          },
          {
            op: 'compensate',
            url: 'http://bank.test/01/compensate',
            service: 'bank.test',
            state: 'idle',
            attempts: 0,
          },
        ],
      },
      {
        id: '02',
        after: ['01'],
        ops: [
          {
            op: 'action',
            url: 'http://bank.test/02/action',
            service: 'bank.test',
            state: 'idle',
            attempts: 0,
          },
        ],
      },
    ])
  })

  it('The view shows the last answer of each op, and when it is called again', () => {
    const waiting = after(serial(1), [
      sent([0, 'action']),
      answered(0, 'action', 'unknown', { statusCode: 503, excerpt: 'busy' }),
    ])
    expect(viewTransaction(waiting, 'submitted').branches[0]?.ops[0]).toEqual({
      op: 'action',
      url: 'http://bank.test/01/action',
      service: 'bank.test',
      state: 'waiting',
      attempts: 1,
      runs: [
        { outcome: 'timeout', from: 1, count: 1, firstAt: CREATED_AT, lastAt: CREATED_AT, excerpt: 'busy' },
      ],
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

  it('The view shows the attention mark', () => {
    const back = after(aborting, [sent([0, 'compensate']), answered(0, 'compensate', 'failure')])
    expect(viewTransaction(back, 'aborting').attention).toBe('compensation of branch 01 answered failure')
  })

  it('The view has neither the payload nor a header', () => {
    const text = JSON.stringify(viewTransaction(failed, 'failed'))
    expect(text).not.toContain('body')
    expect(text).not.toContain('headers')
  })
})

describe('the view of a TCC', () => {
  const tcc = folded(buildTcc(2), [{ type: 'register-asked', branch: tccBranchAt(2) }])

  it('The view of a TCC shows its deadline and its registered branches, each after the newer one', () => {
    expect(viewTransaction(tcc, 'prepared')).toMatchObject({
      kind: 'tcc',
      status: 'prepared',
      deadlineAt: CREATED_AT + TCC_DEADLINE_MS,
      branches: [
        {
          id: '01',
          after: ['02'],
          ops: [
            { op: 'confirm', state: 'idle' },
            { op: 'cancel', state: 'idle' },
          ],
        },
        { id: '02', after: ['03'] },
        { id: '03', after: [], ops: [{ url: 'http://bank.test/03/confirm' }, {}] },
      ],
    })
    expect(viewTransaction(buildTcc(0), 'prepared').branches).toEqual([])
  })

  it('The view of a TCC does not show a decision that is not durable', () => {
    const aborted = folded(tcc, [{ ...ABORT, reason: 'no money' }])
    expect(viewTransaction(aborted, 'prepared')).not.toHaveProperty('abort')
    expect(viewTransaction(aborted, 'aborting').abort).toEqual({
      cause: 'requested',
      at: CREATED_AT,
      reason: 'no money',
    })
    expect(viewTransaction(folded(tcc, [SUBMIT]), 'prepared').status).toBe('prepared')
  })
})

describe('the view of a message', () => {
  it('The view of a message shows its query-back, its start and when its sender is asked', () => {
    const message = folded(buildMessage(2, { delayMs: 70 }), [
      { type: 'sent', calls: [{ branch: CHECK_AT, op: 'msg' }] },
      answering(CHECK_AT, 'msg', 'unknown'),
    ])
    expect(viewTransaction(message, 'prepared')).toMatchObject({
      kind: 'message',
      startAt: CREATED_AT + 70,
      checkAt: CREATED_AT + CHECK_AFTER_MS,
      check: { op: 'msg', url: 'http://bank.test/query', state: 'waiting', attempts: 1, result: 'unknown' },
      branches: [
        { id: '01', after: [], ops: [{ op: 'action' }] },
        { id: '02', after: ['01'] },
      ],
    })
  })

  it('The view of a message shows no query-back and no order where there is none', () => {
    const view = viewTransaction(buildPlainMessage(2, { concurrent: true }), 'submitted')
    for (const field of ['check', 'checkAt', 'startAt', 'deadlineAt']) expect(view).not.toHaveProperty(field)
    expect(view.branches.map(({ after: before }) => before)).toEqual([[], []])
  })

  it('The view of a message shows why it was dropped, once that is durable', () => {
    const dropped = folded(buildMessage(1), [
      { type: 'sent', calls: [{ branch: CHECK_AT, op: 'msg' }] },
      answering(CHECK_AT, 'msg', 'failure'),
    ])
    expect(viewTransaction(dropped, 'prepared')).not.toHaveProperty('finishedAt')
    expect(viewTransaction(dropped, 'failed')).toMatchObject({
      abort: { cause: 'check-failed' },
      finishedAt: CREATED_AT,
    })
  })
})
