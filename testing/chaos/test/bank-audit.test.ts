import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BulkCountsView, OpView, Status, TrailEntry, TransactionView } from '@counterstep/protocol'
import { canary } from '@counterstep/test-servers/canary'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { describe, expect, it } from 'vitest'
import { audit } from '../src/bank/audit/audit.ts'
import { INVARIANTS, type InvariantName } from '../src/bank/audit/violation.ts'
import type {
  BankBooks,
  BranchCallNote,
  ClientAnswer,
  ClientNote,
  CommandNote,
  Effect,
  Evidence,
  RecordedStep,
  SignalState,
} from '../src/bank/evidence.ts'
import { watchLogs } from '../src/bank/report/watch-logs.ts'
import { makeToken } from '../src/bank/tokens/token.ts'
import { auditFixture, call } from './bank-audit-fixture.ts'

/** These are the planted faults, each with the invariants that the auditor must then name. */
const PLANTED: readonly (readonly [
  title: string,
  names: readonly InvariantName[],
  plant: (evidence: Evidence) => Evidence,
])[] = [
  ['an acknowledged saga that is not stored', ['I1'], (sound) => withoutRow(sound, 'left')],
  [
    'a server that does not know what was acknowledged',
    ['I1'],
    (sound) => addNote(sound, note('done', 'look', problem(404, 'SAGA_UNKNOWN_GID'), 50)),
  ],
  [
    'a step of a workflow that is called before it is in the record',
    ['I37'],
    (sound) => withRecordedStep(sound, ({ at }) => ({ at: at + 6 })),
  ],
  [
    'a step of a workflow that is called, and is not in the record',
    ['I37', 'I37'],
    (sound) => ({ ...sound, calls: [...sound.calls, call('planned', 'ship', 'action')] }),
  ],
  [
    'a slot that was granted before that was in the record',
    ['I37'],
    (sound) =>
      withCall(
        sound,
        call('turned', '00', 'plan', { at: 99, grant: { plan: 2, lastSlot: 3, journal: ['~1'] } }),
      ),
  ],
  [
    'a slot that was never granted in the record',
    ['I37'],
    (sound) =>
      withCall(sound, call('turned', '00', 'plan', { grant: { plan: 3, lastSlot: 4, journal: ['~1'] } })),
  ],
  [
    'a plan whose journal has lost an entry',
    ['I38'],
    (sound) =>
      withCall(
        sound,
        call('turned', '00', 'plan', { at: 100, grant: { plan: 3, lastSlot: 3, journal: ['~2', '~1'] } }),
      ),
  ],
  [
    'a slot that has one step in the record and another one in the ledger',
    ['I38'],
    (sound) =>
      withWorkflows(sound, (view) => ({
        ...view,
        branches: view.branches.map((step) => (view.gid === 'turned' ? { ...step, name: 'take' } : step)),
      })),
  ],
  [
    'a step that was built on a value which the record does not have',
    ['I39'],
    (sound) => {
      const told = [makeToken('quote'), makeToken('quote')]
      return withCall(
        withCall(sound, call('planned', '~1', 'action', { at: 120, told })),
        call('planned', '~1', 'action', { at: 120, given: told }),
      )
    },
  ],
  [
    'a workflow that has succeeded without a result',
    ['I5'],
    (sound) => withWorkflows(sound, ({ result: _, ...view }) => view),
  ],
  [
    'a move that stands, and that the result of its workflow does not name',
    ['I5'],
    (sound) =>
      withWorkflows(sound, (view) => (view.result === undefined ? view : { ...view, result: { done: [] } })),
  ],
  [
    'a move of a failed workflow that stands',
    ['I6', 'I40'],
    (sound) => withoutEffect(sound, 'turned', '~1', 'compensate'),
  ],
  [
    'a commit that is forgotten after the death of its handler',
    ['I40'],
    (sound) => ({ ...sound, deaths: sound.deaths.map((death) => ({ ...death, slots: ['~1', '~2'] })) }),
  ],
  [
    'a local step that takes effect twice',
    ['I5', 'I7', 'I40'],
    (sound) => withEffect(sound, 0, { gid: 'planned', branchId: '~1', op: 'action', account: 'a', cents: 0 }),
  ],
  [
    'a step that is called, and was planned after the turn',
    ['I41'],
    (sound) => withRecordedStep(sound, ({ gid }) => ({ isAfterTurn: gid === 'turned' })),
  ],
  ['a row that no client submitted', ['I2'], (sound) => withRow(sound, 'stranger', 'failed')],
  [
    'a call that no client submitted',
    ['I2'],
    (sound) => ({
      ...sound,
      calls: [...sound.calls, call('stranger', 'debit', 'action')],
    }),
  ],
  [
    'an effect of another amount, beside which the money still fits',
    ['I2', 'I2'],
    (sound) =>
      changed(
        sound,
        (effect) => (effect.gid === 'done' ? { ...effect, cents: 2 * effect.cents } : effect),
        'done',
      ),
  ],
  [
    'a final status that changed',
    ['I3'],
    (sound) => ({
      ...sound,
      writes: [...sound.writes, { gid: 'done', status: 'aborting', epoch: 1 }],
    }),
  ],
  [
    'an epoch that went back',
    ['I3'],
    (sound) => ({
      ...sound,
      writes: [
        { gid: 'left', status: 'submitted', epoch: 2 },
        { gid: 'left', status: 'submitted', epoch: 1 },
      ],
    }),
  ],
  [
    'a success after the decision to abort',
    ['I3', 'I4'],
    (sound) => ({
      ...sound,
      writes: [
        { gid: 'done', status: 'aborting', epoch: 1 },
        { gid: 'done', status: 'succeeded', epoch: 1 },
      ],
    }),
  ],
  [
    'a success of which an abort was promised',
    ['I4'],
    (sound) => addNote(sound, note('done', 'abort', view(202, 'aborting'), 5)),
  ],
  ['a success without an effect', ['I5', 'I15'], (sound) => withoutEffect(sound, 'done', 'credit', 'action')],
  [
    'a success that was compensated',
    ['I5', 'I15'],
    (sound) =>
      withEffect(sound, 1, { gid: 'done', branchId: 'credit', op: 'compensate', account: 'b', cents: -7 }),
  ],
  [
    'a failure that was not undone',
    ['I6', 'I15'],
    (sound) => withoutEffect(sound, 'undone', 'debit', 'compensate'),
  ],
  [
    'an action that took effect twice',
    ['I5', 'I7', 'I15'],
    (sound) =>
      withEffect(sound, 1, { gid: 'done', branchId: 'credit', op: 'action', account: 'b', cents: 7 }),
  ],
  [
    'a compensation that took effect twice',
    ['I6', 'I7', 'I15'],
    (sound) =>
      withEffect(sound, 0, { gid: 'undone', branchId: 'debit', op: 'compensate', account: 'a', cents: 9 }),
  ],
  [
    'an action after its null compensation',
    ['I8', 'I6', 'I15'],
    (sound) =>
      withEffect(sound, 1, { gid: 'undone', branchId: 'credit', op: 'action', account: 'b', cents: 9 }),
  ],
  [
    'an action after its compensation',
    ['I8', 'I9'],
    (sound) => changed(sound, (effect) => (isDone(effect) ? { ...effect, seq: 1_000 } : effect)),
  ],
  [
    'a compensation of what was never done',
    ['I6', 'I9', 'I15'],
    (sound) => withoutEffect(sound, 'undone', 'debit', 'action'),
  ],
  ['a balance that its ledger does not explain', ['I15', 'I15'], (sound) => withBalance(sound, 'a', 1)],
  [
    'money that moved between two accounts and stands in no ledger',
    ['I15', 'I15'],
    (sound) => withBalance(withBalance(sound, 'a', 1), 'b', -1),
  ],
  [
    'a repeated submit that was refused',
    ['I17'],
    (sound) => addNote(sound, note('done', 'submit', problem(409, 'SAGA_GID_CONFLICT'), 5)),
  ],
  [
    'other content that was taken',
    ['I17'],
    (sound) => addNote(sound, note('done', 'other-content', view(202, 'submitted'), 0)),
  ],
  [
    'an end that was taken back',
    ['I18'],
    (sound) => addNote(sound, note('done', 'look', view(200, 'submitted'), 50)),
  ],
  [
    'two different ends',
    ['I18', 'I19'],
    (sound) => addNote(sound, note('done', 'look', view(200, 'failed'), 50)),
  ],
  [
    'an end that the store does not know',
    ['I19'],
    (sound) => addNote(sound, note('left', 'submit', view(200, 'failed'), 5)),
  ],
  [
    'a refused submit that was done',
    ['I21'],
    (sound) => ({
      ...withRow(sound, 'refused', 'failed'),
      notes: [...sound.notes, note('refused', 'submit', problem(503, 'SAGA_NOT_ACCEPTED'), 0)],
    }),
  ],
  [
    'a success that no answer explains',
    ['I26'],
    (sound) => ({ ...sound, calls: sound.calls.filter(({ request }) => request !== 'an edited order') }),
  ],
  [
    'an op by hand that was never skipped',
    ['I26', 'I27'],
    (sound) => withTrail(sound, (trail) => trail.filter(({ command }) => command !== 'skip')),
  ],
  [
    'a command that was answered as durable and is lost',
    ['I27'],
    (sound) => withTrail(sound, (trail) => trail.filter(({ command }) => command !== 'edit')),
  ],
  [
    'a command that was given twice',
    ['I27'],
    (sound) =>
      withTrail(sound, (trail) => trail.flatMap((each) => (each.command === 'pause' ? [each, each] : each))),
  ],
  [
    'a retry that was counted twice',
    ['I27'],
    (sound) =>
      withTrail(sound, (trail) => trail.map((each) => (each.count === 2 ? { ...each, count: 3 } : each))),
  ],
  [
    'a command that nobody gave',
    ['I27'],
    (sound) =>
      withTrail(sound, (trail) =>
        trail.flatMap((each) => (each.command === 'pause' ? [each, { ...each, id: 'x' }] : each)),
      ),
  ],
  [
    'a command that was refused while the transaction waited for it',
    ['I27'],
    (sound) =>
      withCommands(sound, (each) =>
        each.command === 'resume' ? { ...each, outcome: 'SAGA_ALREADY_FINAL' } : each,
      ),
  ],
  [
    'a bulk job that gave its command twice',
    ['I27'],
    (sound) =>
      withTrail(sound, (trail) => trail.map((each) => (each.bulk === 'job' ? { ...each, count: 2 } : each))),
  ],
  ['counts of a bulk job that do not add up', ['I27'], (sound) => withCounts(sound, { total: 3 })],
  [
    'a bulk job whose command is in no trail',
    ['I27'],
    (sound) => withTrail(sound, (trail) => trail.filter(({ bulk }) => bulk === undefined)),
  ],
  ['a bulk job that has left one out', ['I27'], (sound) => withCounts(sound, { waiting: 1, total: 3 })],
  [
    'a commanded transaction that no server shows',
    ['I27', 'I27'],
    (sound) => ({ ...sound, operators: { ...sound.operators, views: [] } }),
  ],
  [
    'calls that go on in a pause that all have learned of',
    ['I28'],
    (sound) => {
      const { askedAt = 0 } = sound.operators.commands.find(({ command }) => command === 'resume') ?? {}
      const late = call('operated', 'order', 'action', { at: askedAt - 1, statusCode: 500 })
      return [late, late, late].reduce(withCall, sound)
    },
  ],
  [
    'an attempt whose request is another one',
    ['I30'],
    (sound) => withCall(sound, call('done', 'debit', 'action', { request: 'another' })),
  ],
  [
    'an id that no branch of the saga has answered',
    ['I31'],
    (sound) => withCall(sound, call('left', 'credit', 'action', { given: [makeToken('hold')] })),
  ],
  [
    'an id that was answered to a copy alone',
    ['I31'],
    (sound) => {
      const told = [makeToken('hold')]
      const copied = withCall(sound, call('left', 'debit', 'action', { told, isCopy: true }))
      return withCall(copied, call('left', 'credit', 'action', { given: told }))
    },
  ],
  [
    'two ids of one hold, each given to another branch',
    ['I31'],
    (sound) => {
      const told = [makeToken('hold')]
      const again = withCall(sound, call('done', 'debit', 'action', { told }))
      return withCall(again, call('done', 'fee', 'action', { given: told }))
    },
  ],
  [
    'a compensation without the id that an action was given',
    ['I32'],
    (sound) => ({
      ...sound,
      calls: sound.calls.map((each) => (each.op === 'compensate' ? { ...each, given: [] } : each)),
    }),
  ],
  [
    'a wait that had its timeout too early',
    ['I33'],
    (sound) => withOp(sound, 'timed-out', 'wait', { endedAt: 499 }),
  ],
  ['a timer that ended too early', ['I33'], (sound) => withOp(sound, 'approved', 'rest', { endedAt: 149 })],
  [
    'a pivot that was called before the end of the timer',
    ['I33'],
    (sound) => withCall(sound, call('approved', 'pay', 'action', { at: 149 })),
  ],
  [
    'a wait that was ended by a signal and by its timeout',
    ['I33'],
    (sound) => withOp(sound, 'approved', 'wait', { error: 'signal-timeout', endedAt: 500 }),
  ],
  [
    'a signal that was acknowledged and is gone',
    ['I34'],
    (sound) => addNote(sound, note('timed-out', 'signal', signal('kept'), 1)),
  ],
  [
    'a signal that was taken and is kept',
    ['I33', 'I34'],
    (sound) => {
      const kept = withApproval(sound, 'approved', (saga) => ({
        ...saga,
        signals: [{ name: 'yes', id: 'kim', state: 'kept' }],
      }))
      return addNote(kept, note('approved', 'signal', signal('taken'), 1))
    },
  ],
  [
    'a signal that was refused as another one',
    ['I34'],
    (sound) => addNote(sound, note('approved', 'signal', problem(409, 'SAGA_SIGNAL_CONFLICT'), 1)),
  ],
  [
    'an abort after the call of a pivot, whose timer had not begun',
    ['I33', 'I35'],
    (sound) => withCall(sound, call('timed-out', 'pay', 'action', { statusCode: 425 })),
  ],
  [
    'an abort after a client was told that there is no return',
    ['I35'],
    (sound) => addNote(sound, note('timed-out', 'abort', problem(409, 'SAGA_NO_RETURN'), 1)),
  ],
  [
    'a compensation after the success of the pivot',
    ['I35'],
    (sound) => withCall(sound, call('approved', 'hold', 'compensate')),
  ],
  [
    'a retriable that was called before the success of its pivot',
    ['I35'],
    (sound) => ({
      ...sound,
      calls: sound.calls.map((each) => (each.branchId === 'pay' ? { ...each, statusCode: 425 } : each)),
    }),
  ],
  [
    'a secret in an answer',
    ['S28'],
    (sound) => ({ ...sound, shownSecrets: ['answers to clients: a secret'] }),
  ],
  ['a saga that never ends', ['L1'], (sound) => withRow(sound, 'left', 'aborting')],
]

describe('the audit of a run', () => {
  it('The audit of a run finds nothing where nothing is wrong', () => {
    expect(audit(auditFixture())).toEqual([])
  })

  it('The audit of a run takes an answer that was asked for before the end was known for no step back', () => {
    expect(audit(addNote(auditFixture(), note('done', 'look', view(200, 'submitted'), 1)))).toEqual([])
  })

  it('The audit of a run counts no call in a pause that its caller had given up, since it may be older', () => {
    const sound = auditFixture()
    const { askedAt = 0 } = sound.operators.commands.find(({ command }) => command === 'resume') ?? {}
    const more = { at: askedAt - 1, statusCode: 500, isCallerGone: true } as const
    const late = call('operated', 'order', 'action', more)
    expect(audit([late, late, late].reduce(withCall, sound))).toEqual([])
  })

  it('The audit of a run holds the branches of a stopped saga to I7, I8 and I9 alone', () => {
    const stopped = withRow(
      withoutEffect(auditFixture(), 'left', 'credit', 'action', false),
      'left',
      'stopped',
    )
    expect(audit({ ...stopped, writes: [] })).toEqual([])
  })

  for (const [title, names, plant] of PLANTED) {
    it(`The audit of a run names ${names.join(', ')} for ${title}`, () => {
      const found = audit(plant(auditFixture())).map(({ invariant }) => invariant)
      expect(found.toSorted()).toEqual([...names].sort())
    })
  }

  it('S28: The audit of a run names a log line with a secret that a client has sent, and no other', async () => {
    const logFolder = await mkdtemp(join(tmpdir(), 'counterstep-audit-'))
    const line = (text: string) => `{"level":40,"msg":"${text}"}\n`
    const secret = canary('payload')
    await writeFile(join(logFolder, 'server-0.log'), line('a branch was late'))
    await writeFile(
      join(logFolder, 'server-1.log'),
      line('a branch was late') + line(`it was sent ${secret}`),
    )
    const watch = new SecretWatch()
    await watchLogs(logFolder, watch)
    await rm(logFolder, { recursive: true })
    expect(audit({ ...auditFixture(), shownSecrets: watch.shown })).toEqual([
      { invariant: 'S28', subject: 'a secret', detail: `server-1.log: ${secret}` },
    ])
  })

  it('The audit of a run has been shown a violation of every invariant', () => {
    expect(new Set(PLANTED.flatMap(([, names]) => names))).toEqual(new Set(Object.keys(INVARIANTS)))
  })
})

function view(statusCode: number, status: Status): ClientAnswer {
  return { type: 'view', statusCode, status }
}

function problem(statusCode: number, code: string): ClientAnswer {
  return { type: 'problem', statusCode, code }
}

function note(gid: string, ask: ClientNote['ask'], answer: ClientAnswer, askedAt: number): ClientNote {
  return { gid, ask, askedAt, answeredAt: askedAt + 5, answer }
}

function addNote(evidence: Evidence, more: ClientNote): Evidence {
  return { ...evidence, notes: [...evidence.notes, more] }
}

function signal(state: SignalState): ClientAnswer {
  return { type: 'signal', statusCode: 200, id: 'kim', state }
}

function withApproval(
  evidence: Evidence,
  gid: string,
  change: (saga: TransactionView) => TransactionView,
): Evidence {
  return {
    ...evidence,
    approvals: evidence.approvals.map((saga) => (saga.gid === gid ? change(saga) : saga)),
  }
}

/** Shows the only op of one branch otherwise. */
function withOp(evidence: Evidence, gid: string, branchId: string, shown: Partial<OpView>): Evidence {
  return withApproval(evidence, gid, (saga) => ({
    ...saga,
    branches: saga.branches.map((branch) =>
      branch.id === branchId ? { ...branch, ops: branch.ops.map((op) => ({ ...op, ...shown })) } : branch,
    ),
  }))
}

function withRecordedStep(
  evidence: Evidence,
  change: (step: RecordedStep) => Partial<RecordedStep>,
): Evidence {
  return {
    ...evidence,
    recordedSteps: evidence.recordedSteps.map((step) =>
      step.gid === 'turned' ? { ...step, ...change(step) } : step,
    ),
  }
}

function withWorkflows(evidence: Evidence, change: (view: TransactionView) => TransactionView): Evidence {
  return { ...evidence, workflows: evidence.workflows.map(change) }
}

function withTrail(
  evidence: Evidence,
  change: (trail: readonly TrailEntry[]) => readonly TrailEntry[],
): Evidence {
  const views = evidence.operators.views.map((view) => ({ ...view, trail: change(view.trail ?? []) }))
  return { ...evidence, operators: { ...evidence.operators, views } }
}

function withCommands(evidence: Evidence, change: (note: CommandNote) => CommandNote): Evidence {
  const commands = evidence.operators.commands.map(change)
  return { ...evidence, operators: { ...evidence.operators, commands } }
}

function withCounts(evidence: Evidence, changed: Partial<BulkCountsView>): Evidence {
  const jobs = evidence.operators.jobs.map((job) =>
    job.counts === undefined ? job : { ...job, counts: { ...job.counts, ...changed } },
  )
  return { ...evidence, operators: { ...evidence.operators, jobs } }
}

function withCall(evidence: Evidence, more: BranchCallNote): Evidence {
  return { ...evidence, calls: [...evidence.calls, more] }
}

function withRow(evidence: Evidence, gid: string, status: Status): Evidence {
  const planned = new Map(evidence.planned)
  if (gid === 'refused') planned.set(gid, { gid, kind: 'saga', branches: [] })
  return {
    ...evidence,
    planned,
    rows: new Map(evidence.rows).set(gid, { gid, kind: 'saga', status, attention: false }),
  }
}

function withoutRow(evidence: Evidence, gid: string): Evidence {
  return { ...evidence, rows: new Map([...evidence.rows].filter(([key]) => key !== gid)) }
}

function withBooks(evidence: Evidence, change: (books: BankBooks, bank: number) => BankBooks): Evidence {
  return { ...evidence, banks: evidence.banks.map(change) }
}

/** Adds an effect like a bank without a barrier: the balance follows. */
function withEffect(evidence: Evidence, at: number, effect: Omit<Effect, 'seq'>): Evidence {
  return withBooks(evidence, (books, bank) =>
    bank === at ? withBalances({ ...books, effects: [...books.effects, { ...effect, seq: 500 }] }) : books,
  )
}

function withoutEffect(
  evidence: Evidence,
  gid: string,
  branchId: string,
  op: Effect['op'],
  alone = true,
): Evidence {
  return withBooks(evidence, (books) =>
    withBalances({
      ...books,
      effects: books.effects.filter((effect) => {
        if (effect.gid !== gid) return true
        return alone ? effect.branchId !== branchId || effect.op !== op : false
      }),
    }),
  )
}

function changed(evidence: Evidence, change: (effect: Effect) => Effect, balancedGid?: string): Evidence {
  return withBooks(evidence, (books) => {
    const next = {
      ...books,
      effects: books.effects.map(change).toSorted((one, other) => one.seq - other.seq),
    }
    return balancedGid === undefined ? next : withBalances(next)
  })
}

function withBalances(books: BankBooks): BankBooks {
  return {
    ...books,
    accounts: books.accounts.map((account) => ({
      ...account,
      balanceCents: books.effects
        .filter((effect) => effect.account === account.id)
        .reduce((sum, { cents }) => sum + cents, account.initialCents),
    })),
  }
}

function isDone({ gid, branchId, op }: Effect): boolean {
  return gid === 'undone' && branchId === 'debit' && op === 'action'
}

function withBalance(evidence: Evidence, id: string, cents: number): Evidence {
  return withBooks(evidence, (books) => ({
    ...books,
    accounts: books.accounts.map((account) =>
      account.id === id ? { ...account, balanceCents: account.balanceCents + cents } : account,
    ),
  }))
}
