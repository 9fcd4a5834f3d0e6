import type { BranchView, Op, OpView, Status, TransactionView, WaitView } from '@counterstep/protocol'
import type {
  BankBooks,
  BranchCallNote,
  CommandNote,
  Effect,
  Evidence,
  OperatorEvidence,
  PlannedTransaction,
  RecordedStep,
} from '../src/bank/evidence.ts'
import { PAUSE_SETTLES_MS } from '../src/bank/operators/plan-commands.ts'
import { makeToken } from '../src/bank/tokens/token.ts'

const INITIAL_CENTS = 1_000
const HELD = makeToken('hold')
const HELD_IN_VAIN = makeToken('hold')
const APPROVAL = {
  wait: 'wait',
  timer: 'rest',
  pivot: 'pay',
  retriable: 'mail',
  tokens: [makeToken('approval')],
} as const

/**
 * A sound run of three sagas between account a at bank 0 and account b at bank 1. `done` and `left` have succeeded;
 * `undone` has failed: its debit was undone, its credit never came and is blocked. A debit answers the id of a hold, which
 * the credit and the debit's compensation are given. Of two more, one was approved and went on, and one had its timeout. The
 * last one was paused, edited and retried, and one of its ops was skipped.
 */
export function auditFixture(): Evidence {
  const plans = [
    plan('done', 7),
    plan('left', 3),
    plan('undone', 9),
    { ...plan('approved', 0), branches: [], approval: APPROVAL },
    { ...plan('timed-out', 0), branches: [], approval: APPROVAL },
    { ...plan('operated', 0), branches: [] },
    stepPlan('planned'),
    stepPlan('turned'),
  ]
  return {
    planned: new Map(plans.map((each) => [each.gid, each])),
    notes: [
      {
        gid: 'done',
        ask: 'submit',
        askedAt: 0,
        answeredAt: 20,
        answer: { type: 'view', statusCode: 200, status: 'succeeded' },
      },
      {
        gid: 'left',
        ask: 'submit',
        askedAt: 0,
        answeredAt: 20,
        answer: { type: 'view', statusCode: 202, status: 'submitted' },
      },
      {
        gid: 'undone',
        ask: 'submit',
        askedAt: 0,
        answeredAt: 2,
        answer: { type: 'none', why: 'ECONNRESET' },
      },
      {
        gid: 'undone',
        ask: 'submit',
        askedAt: 3,
        answeredAt: 9,
        answer: { type: 'view', statusCode: 202, status: 'submitted' },
      },
      {
        gid: 'done',
        ask: 'other-content',
        askedAt: 30,
        answeredAt: 31,
        answer: { type: 'problem', statusCode: 409, code: 'SAGA_GID_CONFLICT' },
      },
    ],
    calls: [
      call('done', 'debit', 'action', { told: [HELD] }),
      call('done', 'credit', 'action', { given: [HELD] }),
      call('undone', 'debit', 'action', { told: [HELD_IN_VAIN] }),
      call('undone', 'credit', 'action', { given: [HELD_IN_VAIN] }),
      call('undone', 'debit', 'compensate', { given: [HELD_IN_VAIN] }),
      call('approved', 'pay', 'action', { at: 150, given: APPROVAL.tokens }),
      call('approved', 'mail', 'action'),
      call('timed-out', 'hold', 'compensate'),
      ...['planned', 'turned'].map((gid) => call(gid, '~1', 'action', { at: RECORDED_AT + 5 })),
      call('turned', '~1', 'compensate', { at: RECORDED_AT + 9 }),
      ...['planned', 'turned'].flatMap((gid) => [
        call(gid, '00', 'plan', { at: ACCEPTED_AT, grant: { plan: 1, lastSlot: SLOTS, journal: [] } }),
        call(gid, '00', 'plan', {
          at: RECORDED_AT,
          grant: { plan: 2, lastSlot: SLOTS + 1, journal: ['~1'] },
        }),
      ]),
      call('operated', 'order', 'action', { at: PAUSED_AT - 10, statusCode: 500 }),
      call('operated', 'order', 'action', { at: RESUMED_AT + 10, request: 'an edited order' }),
      call('operated', 'clerk', 'action', { at: RESUMED_AT + 20, statusCode: 500 }),
    ],
    rows: new Map([
      ['done', { gid: 'done', kind: 'saga', status: 'succeeded', attention: false }],
      ['left', { gid: 'left', kind: 'saga', status: 'succeeded', attention: false }],
      ['undone', { gid: 'undone', kind: 'saga', status: 'failed', attention: false }],
      ['approved', { gid: 'approved', kind: 'saga', status: 'succeeded', attention: false }],
      ['operated', { gid: 'operated', kind: 'saga', status: 'succeeded', attention: false }],
      ['planned', { gid: 'planned', kind: 'workflow', status: 'succeeded', attention: false }],
      ['turned', { gid: 'turned', kind: 'workflow', status: 'failed', attention: false }],
      ['timed-out', { gid: 'timed-out', kind: 'saga', status: 'failed', attention: false }],
    ]),
    approvals: [approvedSaga(), timedOutSaga()],
    workflows: [endedWorkflow('planned', 'succeeded'), endedWorkflow('turned', 'failed')],
    recordedSteps: ['planned', 'turned'].map((gid) => recordedStep(gid)),
    recordedGrants: ['planned', 'turned'].flatMap((gid) => [
      { gid, lastSlot: undefined, at: ACCEPTED_AT },
      { gid, lastSlot: SLOTS + 1, at: RECORDED_AT },
    ]),
    deaths: [{ gid: 'turned', point: 'before-answer', slots: ['~1'] }],
    operators: operatorEvidence(),
    shownSecrets: [],
    writes: [
      { gid: 'done', status: 'submitted', epoch: 1 },
      { gid: 'undone', status: 'submitted', epoch: 1 },
      { gid: 'undone', status: 'aborting', epoch: 2 },
      { gid: 'done', status: 'succeeded', epoch: 1 },
      { gid: 'undone', status: 'failed', epoch: 2 },
    ],
    banks: [
      books('a', [
        ['done', 'debit', 'action', -7],
        ['left', 'debit', 'action', -3],
        ['undone', 'debit', 'action', -9],
        ['undone', 'debit', 'compensate', 9],
        ['planned', '~1', 'action', 0],
        ['turned', '~1', 'action', 0],
        ['turned', '~1', 'compensate', 0],
      ]),
      {
        ...books('b', [
          ['done', 'credit', 'action', 7],
          ['left', 'credit', 'action', 3],
        ]),
        blocked: [{ gid: 'undone', branchId: 'credit', op: 'action' }],
      },
    ],
  }
}

const ACCEPTED_AT = 90
const RECORDED_AT = 100
/** The accept grants so many slots, and the second plan one more. */
const SLOTS = 2

function stepPlan(gid: string): PlannedTransaction {
  return {
    gid,
    kind: 'workflow',
    branches: [{ id: 'tip', bank: 0, account: 'a', cents: 0 }],
    grants: SLOTS,
  }
}

/** One local step in a call of its own. */
function endedWorkflow(gid: string, status: 'succeeded' | 'failed'): TransactionView {
  const action = { op: 'action', state: 'succeeded', attempts: 1 } as const
  return {
    ...approvedSaga(),
    gid,
    kind: 'workflow',
    status,
    branches: [{ id: '~1', is: 'step', name: 'give', stepId: 'give', after: [], ops: [action] }],
    ...(status === 'succeeded' ? { result: { done: ['tip'] } } : {}),
  }
}

function recordedStep(gid: string): RecordedStep {
  return { gid, branchId: '~1', at: RECORDED_AT, isAfterTurn: false }
}

const TIMEOUT_MS = 500
const TIMER_MS = 100

/** A saga that was approved, rested for its time, and went on without return. */
function approvedSaga(): TransactionView {
  const rested = { ms: TIMER_MS, startedAt: 50, endedAt: 50 + TIMER_MS }
  return {
    ...approvalView('approved', 'succeeded'),
    signals: [{ name: 'yes', id: 'kim', state: 'taken', branchId: 'wait' }],
    branches: [
      waitView(
        'wait',
        { signal: 'yes', timeoutMs: TIMEOUT_MS },
        { state: 'succeeded', startedAt: 0, endedAt: 50 },
      ),
      waitView('rest', { ms: rested.ms }, { state: 'succeeded', ...rested }),
      {
        id: 'pay',
        after: ['rest'],
        role: 'pivot',
        ops: [op({ state: 'succeeded', startedAt: rested.endedAt })],
      },
    ],
  }
}

/** A saga whose approval did not come in time. */
function timedOutSaga(): TransactionView {
  const timedOut = { state: 'failed', startedAt: 0, endedAt: TIMEOUT_MS, error: 'signal-timeout' } as const
  return {
    ...approvalView('timed-out', 'failed'),
    abort: { cause: 'signal-timeout', branchId: 'wait', at: TIMEOUT_MS },
    branches: [waitView('wait', { signal: 'yes', timeoutMs: TIMEOUT_MS }, timedOut)],
  }
}

const PAUSED_AT = 1_000
const RESUMED_AT = PAUSED_AT + PAUSE_SETTLES_MS + 1_000

/** Each command was answered as durable. The last two retries are one entry, and a bulk job has retried, too. */
function operatorEvidence(): OperatorEvidence {
  const by = { via: 'api' } as const
  const ORDER = { branchId: 'order', op: 'action' } as const
  const CLERK = { branchId: 'clerk', op: 'action' } as const
  const entry = { by, from: 'submitted' } as const
  const bulk = { by: { via: 'bulk' } as const, from: 'submitted', command: 'retry', bulk: 'job' } as const
  return {
    commands: [
      commandNote('pause', 1, PAUSED_AT),
      commandNote('resume', 2, RESUMED_AT),
      { ...commandNote('edit', 3, RESUMED_AT), op: ORDER },
      commandNote('retry', 4, RESUMED_AT),
      commandNote('retry', 5, RESUMED_AT),
      { ...commandNote('skip', 6, RESUMED_AT), op: CLERK },
      { ...commandNote('skip', 7, RESUMED_AT), outcome: 'SAGA_ALREADY_FINAL', mayComeTooLate: true },
    ],
    views: [
      {
        ...approvalView('operated', 'succeeded'),
        branches: [
          { id: 'order', after: [], ops: [op({ state: 'succeeded' })] },
          {
            id: 'clerk',
            after: ['order'],
            ops: [{ ...op({ state: 'succeeded' }), byHand: { at: RESUMED_AT, doneBy: 'service' } }],
          },
        ],
        trail: [
          { ...entry, id: 'command-1', at: PAUSED_AT, command: 'pause' },
          { ...entry, id: 'command-2', at: RESUMED_AT, command: 'resume' },
          { ...entry, id: 'command-3', at: RESUMED_AT, command: 'edit', op: ORDER },
          { ...entry, id: 'command-5', at: RESUMED_AT, command: 'retry', count: 2 },
          { ...bulk, id: 'job', at: RESUMED_AT },
          { ...entry, id: 'command-6', at: RESUMED_AT, command: 'skip', op: CLERK },
        ],
      },
    ],
    jobs: [
      {
        id: 'job',
        command: 'retry',
        reason: 'all of them',
        by,
        createdAt: RESUMED_AT,
        ratePerSecond: 20,
        canary: 1,
        state: 'done',
        stateSince: RESUMED_AT,
        counts: {
          total: 2,
          waiting: 0,
          given: 1,
          gotOn: 1,
          failedAgain: 0,
          notAnswered: 0,
          refused: 1,
          refusedBy: { SAGA_ALREADY_FINAL: 1 },
          refusals: [{ gid: 'done', code: 'SAGA_ALREADY_FINAL' }],
          gone: 0,
        },
      },
    ],
  }
}

function commandNote(command: CommandNote['command'], number: number, at: number): CommandNote {
  const stamps = { askedAt: at, answeredAt: at }
  return { gid: 'operated', id: `command-${number}`, command, outcome: 'durable', lost: 0, ...stamps }
}

function approvalView(gid: string, status: Status) {
  return { gid, kind: 'saga', status, createdAt: 0, updatedAt: 0, epoch: 1 } as const
}

function waitView(id: string, wait: WaitView, shown: Partial<OpView>): BranchView {
  return { id, after: [], wait, ops: [op(shown)] }
}

function op({ state = 'idle', startedAt, endedAt, error }: Partial<OpView>): OpView {
  return {
    op: 'action',
    state,
    attempts: 0,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(error === undefined ? {} : { error }),
  }
}

function plan(gid: string, cents: number): PlannedTransaction {
  return {
    gid,
    kind: 'saga',
    branches: [
      { id: 'debit', bank: 0, account: 'a', cents: -cents, undoNeeds: ['hold'] },
      { id: 'credit', bank: 1, account: 'b', cents },
    ],
  }
}

/** One arrival of a request that its branch and op alone decide. */
export function call(
  gid: string,
  branchId: string,
  op: Op,
  more: Partial<BranchCallNote> = {},
): BranchCallNote {
  return {
    gid,
    branchId,
    op,
    at: 1,
    statusCode: 200,
    isCopy: false,
    request: `${branchId} ${op}`,
    given: [],
    told: [],
    ...more,
  }
}

type Line = readonly [gid: string, branchId: string, op: Effect['op'], cents: number]

function books(account: string, lines: readonly Line[]): BankBooks {
  const moved = lines.reduce((sum, [, , , cents]) => sum + cents, 0)
  return {
    accounts: [{ id: account, initialCents: INITIAL_CENTS, balanceCents: INITIAL_CENTS + moved }],
    effects: lines.map(([gid, branchId, op, cents], index) => ({
      seq: index + 1,
      gid,
      branchId,
      op,
      account,
      cents,
    })),
    blocked: [],
  }
}
