import type { OpView, TransactionView } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { toLaneBars } from './bars.ts'
import { listLanes } from './lanes.ts'

const NOW = 10_000

function view(
  kind: TransactionView['kind'],
  ops: readonly OpView[],
  more: Partial<TransactionView> = {},
): TransactionView {
  return {
    gid: 'g',
    kind,
    status: 'submitted',
    createdAt: 0,
    updatedAt: NOW,
    epoch: 1,
    branches: [{ id: 'debit', after: [], ops }],
    ...more,
  }
}

const done: OpView = {
  op: 'action',
  state: 'succeeded',
  attempts: 1,
  startedAt: 10,
  endedAt: 22,
  durationMs: 12,
}
const idleUndo: OpView = { op: 'compensate', state: 'idle', attempts: 0 }

describe('listLanes', () => {
  it('An undo that never became due has no lane', () => {
    expect(listLanes(view('saga', [done, idleUndo])).map(({ id }) => id)).toEqual(['debit.action'])
  })
  it('An undo is a lane in the other direction', () => {
    const undone = { ...idleUndo, state: 'succeeded', attempts: 1 } as const
    expect(listLanes(view('saga', [done, undone]))).toMatchObject([
      { id: 'debit.action', label: 'debit', direction: 'forward', isFirst: true },
      { id: 'debit.compensate', label: 'undo', direction: 'undo', isFirst: false },
    ])
  })
  it('A message begins with its query-back', () => {
    const check: OpView = { op: 'msg', state: 'waiting', attempts: 2 }
    expect(listLanes(view('message', [done], { check })).map(({ id }) => id)).toEqual(['msg', 'debit.action'])
  })
  it('The plan call in hand of a workflow stands above the steps that it has planned, and below the others', () => {
    const plan: OpView = { ...done, op: 'plan' }
    const workflow = {
      name: 'order',
      generation: 1,
      plan: 2,
      steps: 3,
      stepsMax: 9,
      journalBytes: 0,
      journalBytesMax: 9,
    }
    const branches = [
      { id: '~1', stepId: 'reserve', after: [], rank: 1, ops: [done] },
      { id: 'charge', after: [], rank: 2, ops: [done] },
    ]
    const list = (more: Partial<TransactionView>) =>
      listLanes(view('workflow', [], { workflow, plan, branches, ...more })).map(
        ({ id, label }) => `${id} ${label}`,
      )
    expect(list({})).toEqual(['~1.action reserve', 'plan plan 2', 'charge.action charge'])
    expect(list({ branches: branches.slice(0, 1) })).toEqual(['~1.action reserve', 'plan plan 2'])
    const forgotten: OpView = { op: 'plan', state: 'idle', attempts: 0 }
    expect(list({ plan: forgotten })).toEqual(['~1.action reserve', 'charge.action charge'])
  })
  it('Where local steps ran within plan calls, the plan in hand stands above what began after it', () => {
    const plan: OpView = { ...done, op: 'plan', startedAt: 500, endedAt: 520 }
    const workflow = {
      ...{ name: 'order', generation: 1, plan: 2, steps: 5, stepsMax: 9 },
      ...{ journalBytes: 0, journalBytesMax: 9 },
    }
    const ran: OpView = { op: 'action', state: 'succeeded', attempts: 0 }
    const charge: OpView = { ...done, startedAt: 600 }
    const branches = [
      ...[1, 2, 3].map((rank) => ({ id: `~${rank}`, stepId: `step-${rank}`, after: [], rank, ops: [ran] })),
      { id: 'charge', after: [], rank: 4, ops: [charge] },
      {
        id: '~4',
        is: 'step',
        name: '~4 (may have run)',
        after: [],
        rank: 5,
        ops: [{ ...ran, state: 'failed' }],
      },
    ] as const
    expect(listLanes(view('workflow', [], { workflow, plan, branches })).map(({ label }) => label)).toEqual([
      ...['step-1', 'step-2', 'step-3', 'plan 2'],
      ...['charge', '~4 (may have run)'],
    ])
  })
  it('A TCC has the lanes confirm and cancel', () => {
    const confirm: OpView = { ...done, op: 'confirm' }
    const cancel: OpView = { ...done, op: 'cancel' }
    expect(listLanes(view('tcc', [confirm, cancel])).map(({ direction }) => direction)).toEqual([
      'forward',
      'undo',
    ])
  })
})

describe('toLaneBars', () => {
  const barsOf = (op: OpView) => toLaneBars(view('saga', [op]), NOW)[0]
  it('A call that succeeded at once is one bar', () => {
    expect(barsOf(done)?.bars).toEqual([{ from: 10, to: 22, tone: 'done', label: '', isLast: true }])
  })
  it('A wait that went on without its signal says so', () => {
    const op: OpView = { op: 'action', state: 'succeeded', attempts: 0, startedAt: 10, endedAt: 22 }
    expect(barsOf(op)?.bars[0]?.label).toBe('')
    expect(barsOf({ ...op, error: 'signal-timeout' })?.bars[0]?.label).toBe('no signal came')
  })
  it('An op that was not called has none', () => {
    expect(barsOf({ op: 'action', state: 'idle', attempts: 0 })?.bars).toEqual([])
  })
  it('Runs of attempts are bars, and the next attempt stands behind them', () => {
    const waiting: OpView = {
      ...done,
      state: 'waiting',
      attempts: 52,
      nextAt: 12_000,
      runs: [
        { outcome: 'refused', from: 1, count: 40, firstAt: 22, lastAt: 500 },
        { outcome: '500', from: 41, count: 12, firstAt: 600, lastAt: 900 },
      ],
    }
    const lane = barsOf(waiting)
    expect(lane?.nextAt).toBe(12_000)
    expect(lane?.bars).toEqual([
      { from: 10, to: 500, tone: 'unknown', label: 'refused ×40', isLast: false },
      { from: 600, to: 900, tone: 'unknown', label: '500 ×12', isLast: true },
    ])
  })
  it('A 409 to a plan call refuses nothing', () => {
    const runs = [{ outcome: '409', from: 1, count: 2, firstAt: 22, lastAt: 500 }]
    const asked: OpView = { ...done, op: 'plan', state: 'waiting', attempts: 2, runs }
    const [plan] = toLaneBars(view('workflow', [], { plan: asked, branches: [] }), NOW)
    expect(plan?.bars).toMatchObject([{ tone: 'unknown', label: '409 ×2' }])
  })
  it('The answer that ended the op follows its runs', () => {
    const runs = [{ outcome: 'timeout', from: 1, count: 1, firstAt: 200, lastAt: 200 }]
    const bars = barsOf({ ...done, attempts: 2, endedAt: 400, durationMs: 50, runs })?.bars
    expect(bars).toMatchObject([
      { to: 200, label: 'timeout' },
      { from: 350, to: 400, tone: 'done' },
    ])
  })
  it('A server that remembers no runs still shows that it was tried again', () => {
    const waiting: OpView = { ...done, state: 'waiting', attempts: 7, endedAt: 900, statusCode: 404 }
    expect(barsOf(waiting)?.bars).toMatchObject([{ from: 10, to: 900, label: '404 ×7' }])
  })
  it('A call in flight ends now', () => {
    expect(barsOf({ ...done, state: 'calling' })?.bars).toMatchObject([
      { from: 10, to: NOW, tone: 'calling' },
    ])
  })
  it('What a person declared done is a point', () => {
    const hand: OpView = { op: 'action', state: 'succeeded', attempts: 0, byHand: { at: 70, doneBy: 'hand' } }
    expect(barsOf(hand)?.bars).toEqual([{ from: 70, to: 70, tone: 'hand', label: 'by hand', isLast: true }])
  })
})
