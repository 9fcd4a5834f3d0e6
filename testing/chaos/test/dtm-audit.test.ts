import { describe, expect, it } from 'vitest'
import { auditDtm } from '../src/dtm/audit/audit-dtm.ts'
import type { DtmEvidence } from '../src/dtm/audit/dtm-evidence.ts'
import { DTM_INVARIANTS } from '../src/dtm/audit/violation.ts'
import type { DtmView } from '../src/dtm/dtm-api.ts'
import type { DtmPlan, Move } from '../src/dtm/plan.ts'
import type { RunNote } from '../src/dtm/service/run-note.ts'
import { type Effect, START_BALANCE } from '../src/dtm/service/tables.ts'

const MOVES: readonly [Move, Move] = [
  { account: 1, amount: -30 },
  { account: 2, amount: 30 },
]
const XA: DtmPlan = { kind: 'xa', gid: 'x', course: 'submit', moves: MOVES }
const FLOW: DtmPlan = { kind: 'recorded', gid: 'w', data: { steps: MOVES } }
const TOLD = { gid: 'x', isPrepared: true, asked: 'submit', end: 'succeed' } as const

function show(status: string, branches: DtmView['branches'] = []): DtmView {
  return { transaction: { status }, branches }
}

function listEffects(gid: string, ...branches: readonly number[]): readonly Effect[] {
  return branches.flatMap((branch) => {
    const move = MOVES[branch - 1]
    return move === undefined ? [] : [{ gid, branch: `0${branch}`, op: 'action', ...move }]
  })
}

const UNDOS: readonly Effect[] = [{ gid: 'w', branch: '01', op: 'rollback', account: 1, amount: 30 }]
const REPORTS = ['01', '02'].map(
  (branch) => ({ branch, op: 'action', status: 'succeed', data: 'd' }) as const,
)
const NOTES: readonly RunNote[] = [
  { type: 'prepared', gid: 'w' },
  ...REPORTS.map((report) => ({ type: 'reported', gid: 'w', ...report }) as const),
  { type: 'ending', gid: 'w', status: 'succeed' },
  { type: 'ended', gid: 'w', status: 'succeed' },
]
const BRANCHES = REPORTS.map(({ branch, op, status, data }) => ({
  branch_id: branch,
  op,
  status,
  bin_data: Buffer.from(data).toString('base64'),
}))

/** The balances follow from the effects, if they are not given. */
function find(given: Partial<DtmEvidence>): readonly string[] {
  const effects = given.effects ?? []
  const balances = new Map([1, 2].map((account) => [account, START_BALANCE]))
  for (const { account, amount } of effects) balances.set(account, (balances.get(account) ?? 0) + amount)
  const evidence = { plans: [], told: [], notes: [], views: new Map(), effects, prepared: [], balances }
  return [...new Set(auditDtm({ ...evidence, ...given }).map(({ invariant }) => invariant))]
}

const xa = (views: readonly DtmView[], given: Partial<DtmEvidence>) =>
  find({ plans: [XA], told: [TOLD], views: new Map([['x', views]]), ...given })
const flow = (views: readonly DtmView[], given: Partial<DtmEvidence>) =>
  find({ plans: [FLOW], notes: NOTES, views: new Map([['w', views]]), ...given })

const SUCCEEDED = [show('succeed'), show('succeed')]
const FAILED = [show('failed'), show('failed')]
const RECORDED = [show('succeed', BRANCHES)]
const ABORTED = { told: [{ gid: 'x', isPrepared: true, asked: 'abort', end: 'failed' } as const] }
const FAILING: readonly RunNote[] = [{ type: 'ending', gid: 'w', status: 'failed' }]

describe('the audit of a run by the API of DTM', () => {
  it('Nothing is wrong with transactions that have ended as their clients say', () => {
    expect(xa(SUCCEEDED, { effects: listEffects('x', 1, 2) })).toEqual([])
    expect(xa(FAILED, ABORTED)).toEqual([])
    expect(flow(RECORDED, { effects: listEffects('w', 1, 2) })).toEqual([])
    expect(flow(FAILED, { notes: FAILING, effects: [...listEffects('w', 1), ...UNDOS] })).toEqual([])
    expect(xa([{ transaction: null, branches: [] }], { told: [] })).toEqual([])
  })

  const both = listEffects('x', 1, 2)
  const moved = listEffects('w', 1, 2)
  for (const [title, invariant, found] of [
    [
      'an acknowledged XA that is not stored',
      'I1',
      xa([{ transaction: null, branches: [] }], { told: [{ gid: 'x', isPrepared: true }] }),
    ],
    [
      'an acknowledged workflow that is not stored',
      'I1',
      flow([{ transaction: null, branches: [] }], { notes: NOTES.slice(0, 1) }),
    ],
    [
      'an XA that no client has submitted',
      'I2',
      xa(SUCCEEDED, { told: [{ gid: 'x', isPrepared: true }], effects: both }),
    ],
    ['an effect that no client has planned', 'I2', find({ effects: listEffects('other', 1, 2) })],
    ['a prepared branch that no client has planned', 'I2', find({ prepared: ['other-1-01'] })],
    ['an end that was changed', 'I3', xa([show('failed'), show('succeed')], { effects: both })],
    ['a success without an effect', 'I5', xa(SUCCEEDED, {})],
    ['a branch that is left prepared', 'I5', xa(SUCCEEDED, { effects: both, prepared: ['x-02'] })],
    ['a failure with an effect', 'I6', xa(FAILED, { ...ABORTED, effects: both })],
    ['a failure with a prepared branch', 'I6', xa(FAILED, { ...ABORTED, prepared: ['x-01'] })],
    ['a failed workflow that is not undone', 'I6', flow(FAILED, { notes: FAILING, effects: moved })],
    ['an effect that is there twice', 'I7', flow(RECORDED, { effects: [...moved, ...moved] })],
    ['an account with other money', 'I15', find({ balances: new Map([[1, START_BALANCE + 1]]) })],
    ['an end that its client was not told', 'I19', xa(FAILED, {})],
    ['an end that its client has not said', 'I42', flow(RECORDED, { notes: FAILING, effects: moved })],
    ['another end than the acknowledged one', 'I42', flow(FAILED, {})],
    ['a report that is not there', 'I42', flow([show('succeed', BRANCHES.slice(1))], { effects: moved })],
    [
      'a report that is there twice',
      'I42',
      flow([show('succeed', [...BRANCHES, ...BRANCHES])], { effects: moved }),
    ],
    ['a transaction that has not ended', 'L1', xa([show('submitted')], { effects: both })],
  ] as const) {
    it(`The audit finds ${title}`, () => {
      expect(Object.keys(DTM_INVARIANTS)).toContain(invariant)
      expect(found).toContain(invariant)
    })
  }
})
