import { renderTimeline } from '@counterstep/example-bank'
import type { OpView, TransactionView } from '@counterstep/sdk'
import { expect, it } from 'vitest'

const AT = 1_790_000_000_000

function op(name: OpView['op'], from: number, to: number, fields: Partial<OpView> = {}): OpView {
  return {
    op: name,
    state: 'succeeded',
    attempts: 1,
    result: 'success',
    statusCode: 200,
    startedAt: AT + from,
    endedAt: AT + to,
    durationMs: to - from,
    ...fields,
  }
}

function view(fields: Partial<TransactionView>): TransactionView {
  return {
    gid: 'g',
    kind: 'saga',
    status: 'succeeded',
    createdAt: AT,
    updatedAt: AT,
    epoch: 0,
    branches: [],
    ...fields,
  }
}

it('A timeline shows each op where it began and how long it took', () => {
  const transfer = view({
    finishedAt: AT + 64,
    branches: [
      { id: '01', after: [], ops: [op('action', 0, 32), { op: 'compensate', state: 'idle', attempts: 0 }] },
      { id: '02', after: ['01'], ops: [op('action', 32, 63)] },
    ],
  })
  expect(renderTimeline(transfer).split('\n')).toEqual([
    'branch  op      attempts  result     status  ms',
    '01      action         1  ✓ success  200     32  ████████████████',
    '02      action         1  ✓ success  200     31                  ███████████████▌',
    'succeeded in 64 ms',
  ])
})

it('A timeline is in the order of the starts, so that compensations stand below what they undo', () => {
  const failed = view({
    status: 'failed',
    finishedAt: AT + 320,
    abort: { cause: 'branch-failed', branchId: '02', at: AT + 90 },
    branches: [
      { id: '01', after: [], ops: [op('action', 0, 40), op('compensate', 200, 320, { attempts: 3 })] },
      {
        id: '02',
        after: ['01'],
        ops: [
          op('action', 40, 90, { state: 'failed', result: 'failure', statusCode: 409 }),
          op('compensate', 100, 199),
        ],
      },
    ],
  })
  expect(renderTimeline(failed).split('\n')).toEqual([
    'branch  op          attempts  result     status   ms',
    '01      action             1  ✓ success  200      40  ████',
    '02      action             1  ✗ failure  409      50      █████',
    '02      compensate         1  ✓ success  200      99            █████████▉',
    '01      compensate         3  ✓ success  200     120                      ████████████',
    'failed (branch-failed at 02) in 320 ms',
  ])
})

it('A timeline shows what still runs up to now, and why a call has no answer', () => {
  const running = view({
    status: 'submitted',
    updatedAt: AT + 1_600,
    attention: 'a compensation failed',
    branches: [
      {
        id: '01',
        after: [],
        ops: [
          {
            op: 'action',
            state: 'waiting',
            attempts: 2,
            result: 'unknown',
            error: 'timeout',
            startedAt: AT + 800,
            endedAt: AT + 1_200,
            nextAt: AT + 2_000,
          },
        ],
      },
      { id: '02', after: [], ops: [{ op: 'action', state: 'calling', attempts: 1, startedAt: AT + 1_599 }] },
    ],
  })
  expect(renderTimeline(running).split('\n')).toEqual([
    'branch  op      attempts  result     status    ms',
    '01      action         2  ? unknown  timeout  800                  ████████████████',
    '02      action         1  calling    -          1                                 █',
    'submitted after 1600 ms, attention: a compensation failed',
  ])
})

it('An op that took no time at all has a mark', () => {
  const instant = view({ finishedAt: AT, branches: [{ id: '01', after: [], ops: [op('action', 0, 0)] }] })
  expect(renderTimeline(instant).split('\n')).toEqual([
    'branch  op      attempts  result     status  ms',
    '01      action         1  ✓ success  200      0  ▏',
    'succeeded in 0 ms',
  ])
})

it('The timeline of a transaction that called no branch shows its end alone', () => {
  expect(renderTimeline(view({ status: 'stopped', finishedAt: AT + 5 }))).toBe(
    'branch  op  attempts  result  status  ms\nstopped in 5 ms',
  )
})

it('A timeline calls a branch that waits a wait, with how it ended', () => {
  const { attempts: _, result: _r, statusCode: _s, ...waited } = op('action', 10, 50)
  const approved = view({
    finishedAt: AT + 64,
    branches: [
      { id: 'approved', after: [], wait: { signal: 'approval' }, ops: [{ ...waited, attempts: 0 }] },
      {
        id: 'late',
        after: [],
        wait: { signal: 'approval' },
        ops: [{ ...waited, attempts: 0, state: 'failed', error: 'signal-timeout' }],
      },
    ],
  })
  expect(renderTimeline(approved).split('\n').slice(1, 3)).toEqual([
    expect.stringMatching(/^approved {2}wait +0 {2}succeeded +- +40 /),
    expect.stringMatching(/^late {6}wait +0 {2}failed +signal-timeout +40 /),
  ])
})
