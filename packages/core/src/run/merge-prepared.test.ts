/** Tests every state of ours against every row that another node may have written meanwhile. */
import { describe, expect, it } from 'vitest'
import {
  ABORT,
  answering,
  buildMessage,
  buildTcc,
  CHECK_AT,
  folded,
  RETRY_NOW,
  register,
  STOP,
  SUBMIT,
  sending,
  TCC_DEADLINE_MS,
  TIME,
} from '../../test/prepared.ts'
import { GRANT, NODE_START, RunFixture, SETTINGS } from '../../test/run-fixture.ts'
import { buildRow, CREATED_AT } from '../../test/sagas.ts'
import { planCommand } from '../commands/command-row.ts'
import type { StoredTransaction } from '../ports/store.ts'
import type { Command } from '../rules/events.ts'
import { RULES } from '../rules/rules.ts'
import type { Transaction } from '../transaction.ts'

const LATER = CREATED_AT + 3_000
/** These times are so long that no row is given back and no lease ends. */
const LONG = { leaseMs: 60_000, holdMs: 60_000 }

/** Builds the row after these commands by nodes that do not own it. */
function commanded(stored: Transaction, commands: readonly Command[]): StoredTransaction {
  let row = buildRow(stored)
  for (const command of commands) {
    const plan = planCommand(RULES, row, command, { retentionMs: SETTINGS.retentionMs, storeNow: LATER })
    if (plan.type !== 'update') throw new Error(`${command.type} is ${plan.type}`)
    const { hold: _hold, ...written } = plan.update
    row = { ...row, ...written, writeId: 'w2', version: row.version + 1, updatedAt: LATER }
  }
  return row
}

/** A save of ours met `conflict`, or a renewal showed another version. Then the row is read. */
function learning(fixture: RunFixture, row: StoredTransaction): RunFixture {
  fixture.now = Math.max(fixture.now, NODE_START + LATER - CREATED_AT)
  if (fixture.run.save !== undefined) fixture.conflict()
  else {
    const grant = { ...GRANT, sentAt: fixture.now, now: fixture.now, storeNow: fixture.storeNow }
    fixture.step({ type: 'renewed', grant, version: row.version })
  }
  expect(fixture.run.rereading).toBe(true)
  return fixture.step({ type: 'reread', row })
}

/** Our state is the claimed one with the commands given here since. Its save has not been answered. */
function held(transaction: Transaction, ...commands: readonly Command[]): RunFixture {
  const fixture = RunFixture.claimed(transaction, 'held', LONG).tick()
  for (const command of commands) fixture.step({ type: 'command', command })
  return fixture
}

function cancelled(fixture: RunFixture, op: 'confirm' | 'cancel'): readonly string[] {
  const calls: string[] = []
  for (let round = 0; round < 10 && !fixture.run.ended; round++) {
    if (fixture.run.save !== undefined) fixture.saved()
    for (const call of fixture.calls) calls.push(call)
    for (const effect of fixture.effects)
      if (effect.type === 'call') {
        const { call, attempt } = effect
        const answer = { result: 'success' } as const
        fixture.step({ type: 'answered', call, attempt, answer, durationMs: 1, jitter01: 0 })
        break
      }
  }
  expect(calls.every((call) => call.includes(op))).toBe(true)
  return calls
}

const BASE = buildTcc(1)

describe('a TCC that we hold, prepared', () => {
  it.each([
    ['retry', [RETRY_NOW], 'prepared', 1],
    ['register', [register(1)], 'prepared', 2],
    ['submit', [SUBMIT], 'submitted', 1],
    ['register and submit', [register(1), SUBMIT], 'submitted', 2],
    ['abort', [ABORT], 'aborting', 1],
    ['register and abort', [register(1), ABORT], 'aborting', 2],
    ['stop', [STOP], 'stopped', 1],
  ] as const)('becomes what the row is: %s', (_, commands, status, registered) => {
    const fixture = learning(held(BASE), commanded(BASE, commands))
    expect(fixture.run.transaction).toMatchObject({ status })
    expect(fixture.run.transaction.branches).toHaveLength(registered)
  })
})

describe('a decision of ours that is not durable', () => {
  const ours = { submit: SUBMIT, abort: ABORT, 'stop-asked': STOP } as const
  it.each([
    // Our decision stands on top of a row that only got more branches.
    ['submit', [RETRY_NOW], 'submitted', 1],
    ['submit', [register(1)], 'submitted', 2],
    ['abort', [RETRY_NOW], 'aborting', 1],
    ['abort', [register(1)], 'aborting', 2],
    ['stop-asked', [register(1)], 'stopped', 2],
    // The first durable decision counts, and it is about the branches that it found.
    ['submit', [SUBMIT], 'submitted', 1],
    ['submit', [register(1), SUBMIT], 'submitted', 2],
    ['submit', [ABORT], 'aborting', 1],
    ['submit', [register(1), ABORT], 'aborting', 2],
    ['abort', [ABORT], 'aborting', 1],
    ['abort', [register(1), ABORT], 'aborting', 2],
    ['abort', [SUBMIT], 'submitted', 1],
    ['abort', [register(1), SUBMIT], 'submitted', 2],
    ['stop-asked', [SUBMIT], 'stopped', 1],
    ['stop-asked', [ABORT], 'stopped', 1],
  ] as const)('%s, meets %j', (command, commands, status, registered) => {
    const fixture = learning(held(BASE, ours[command]), commanded(BASE, commands))
    expect(fixture.run.transaction).toMatchObject({ status })
    expect(fixture.run.transaction.branches).toHaveLength(registered)
    // One more save follows, so that the row has the decision before a call is based on it.
    expect(fixture.types).toEqual(['save'])
    expect(fixture.calls).toEqual([])
    expect(fixture.save).toMatchObject({ version: 1 + commands.length, status })
  })

  it.each(['submit', 'abort'] as const)('%s, meets a stop: it is stopped', (command) => {
    const fixture = learning(held(BASE, ours[command]), commanded(BASE, [STOP]))
    expect(fixture.run.transaction.status).toBe('stopped')
    expect(fixture.end).toEqual({ type: 'ended', how: 'finished' })
  })

  it('Our decision also calls branches that were registered meanwhile, the newest first', () => {
    const submitted = learning(held(BASE, SUBMIT), commanded(BASE, [register(1)]))
    expect(cancelled(submitted, 'confirm')).toEqual(['02 confirm #1', '01 confirm #1'])
    const aborted = learning(held(BASE, ABORT), commanded(BASE, [register(1), ABORT]))
    expect(cancelled(aborted, 'cancel')).toEqual(['02 cancel #1', '01 cancel #1'])
    expect(aborted.run.durableTransaction.status).toBe('failed')
  })

  it('Our failed end of a TCC without branches is taken back when a branch was registered and the TCC aborted', () => {
    const empty = buildTcc(0)
    const fixture = RunFixture.claimed(empty, 'held', LONG).tick(TCC_DEADLINE_MS)
    expect(fixture.save).toMatchObject({ status: 'aborting' })
    learning(fixture, commanded(empty, [register(0), ABORT]))
    expect(cancelled(fixture, 'cancel')).toEqual(['01 cancel #1'])
  })

  it('Our succeeded end of a TCC without branches is taken back when a branch was registered', () => {
    const fixture = held(buildTcc(0), SUBMIT)
    expect(fixture.saves.at(-1)).toMatchObject({ status: 'succeeded' })
    learning(fixture, commanded(buildTcc(0), [register(0)]))
    expect(cancelled(fixture, 'confirm')).toEqual(['01 confirm #1'])
  })

  it('An abort has the reason of the decision that was durable first', () => {
    const fixture = RunFixture.claimed(BASE, 'held', LONG).tick(TCC_DEADLINE_MS)
    expect(fixture.run.transaction).toMatchObject({ abort: { cause: 'deadline' } })
    learning(fixture, commanded(BASE, [{ ...ABORT, reason: 'no money' }]))
    expect(fixture.run.transaction).toMatchObject({
      abort: { cause: 'requested', reason: 'no money', at: LATER, branches: [0] },
    })
  })

  it('An abort that is decided again lists all branches', () => {
    const fixture = learning(held(BASE, { ...ABORT, reason: 'mine' }), commanded(BASE, [register(1)]))
    expect(fixture.run.transaction).toMatchObject({ abort: { reason: 'mine', branches: [0, 1] } })
  })
})

describe('our own results', () => {
  const decided = folded(buildTcc(2), [SUBMIT])
  it('Our results stay when the row only has a retry, and waiting calls are due', () => {
    const fixture = RunFixture.claimed(decided, 'held', LONG).tick()
    const answer = { result: 'unknown', error: 'timeout' } as const
    const call = { branch: 1, op: 'confirm' } as const
    fixture.step({ type: 'answered', call, attempt: 1, answer, durationMs: 1, jitter01: 0 })
    learning(fixture, commanded(decided, [RETRY_NOW]))
    expect(fixture.run.transaction).toMatchObject({
      manualRetries: 1,
      branches: [{}, { confirm: { failures: 1 } }],
    })
    expect(fixture.saved().calls).toEqual(['02 confirm #2'])
  })

  it('Our results stay in a stop of ours that met a retry', () => {
    const fixture = RunFixture.claimed(decided, 'held', LONG).tick()
    const answer = { result: 'success', statusCode: 200 } as const
    const call = { branch: 1, op: 'confirm' } as const
    fixture.step({ type: 'answered', call, attempt: 1, answer, durationMs: 1, jitter01: 0 })
    fixture.step({ type: 'command', command: STOP })
    learning(fixture, commanded(decided, [RETRY_NOW]))
    expect(fixture.run.transaction).toMatchObject({
      status: 'stopped',
      manualRetries: 1,
      branches: [{}, { confirm: { state: 'succeeded' } }],
    })
  })

  it('Our results stay when our end met a retry', () => {
    const last = folded(buildTcc(1), [ABORT])
    const fixture = RunFixture.claimed(last, 'held', LONG).tick()
    const call = { branch: 0, op: 'cancel' } as const
    fixture.step({
      type: 'answered',
      call,
      attempt: 1,
      answer: { result: 'success' },
      durationMs: 1,
      jitter01: 0,
    })
    learning(fixture, commanded(last, [RETRY_NOW]))
    expect(fixture.run.transaction).toMatchObject({ status: 'failed', manualRetries: 1 })
    expect(fixture.save).toMatchObject({ status: 'failed', version: 2 })
  })
})

describe('a message', () => {
  const base = buildMessage(1)
  const asked = folded(base, [sending([CHECK_AT, 'msg'])])
  const said = (result: 'success' | 'failure' | 'unknown') =>
    folded(asked, [answering(CHECK_AT, 'msg', result)])

  it.each([
    ['a retry', [RETRY_NOW], 'prepared'],
    ['a submit', [SUBMIT], 'submitted'],
    ['an abort', [ABORT], 'failed'],
    ['a stop', [STOP], 'stopped'],
  ] as const)('that is being asked about, meets %s', (_, commands, status) => {
    const fixture = learning(RunFixture.claimed(base, 'held', LONG).tick(10_000), commanded(base, commands))
    expect(fixture.run.transaction.status).toBe(status)
  })

  it.each([
    ['success', [RETRY_NOW], 'submitted'],
    ['success', [SUBMIT], 'submitted'],
    ['success', [ABORT], 'failed'],
    ['success', [STOP], 'stopped'],
    ['failure', [RETRY_NOW], 'failed'],
    ['failure', [SUBMIT], 'submitted'],
    ['failure', [ABORT], 'failed'],
    ['failure', [STOP], 'stopped'],
    ['unknown', [RETRY_NOW], 'prepared'],
    ['unknown', [SUBMIT], 'submitted'],
    ['unknown', [ABORT], 'failed'],
  ] as const)('whose query-back said %s, meets %j', (result, commands, status) => {
    const fixture = RunFixture.claimed(base, 'held', LONG).tick(10_000)
    expect(fixture.effects).toContainEqual({
      type: 'call',
      call: { branch: CHECK_AT, op: 'msg' },
      attempt: 1,
    })
    const call = { branch: CHECK_AT, op: 'msg' } as const
    fixture.step({ type: 'answered', call, attempt: 1, answer: { result }, durationMs: 1, jitter01: 0 })
    expect(fixture.run.transaction.status).toBe(said(result).status)
    learning(fixture, commanded(base, commands))
    expect(fixture.run.transaction.status).toBe(status)
    expect(fixture.calls).toEqual([])
  })

  it('A message that was dropped here and submitted on another node is delivered without a query-back', () => {
    const fixture = RunFixture.claimed(base, 'held', LONG).tick(10_000)
    const call = { branch: CHECK_AT, op: 'msg' } as const
    fixture.step({
      type: 'answered',
      call,
      attempt: 1,
      answer: { result: 'failure' },
      durationMs: 1,
      jitter01: 0,
    })
    learning(fixture, commanded(base, [SUBMIT]))
    expect(fixture.saved().calls).toEqual(['01 action #1'])
  })

  it('A message that was stopped here and submitted on another node is stopped', () => {
    const fixture = learning(held(base, STOP), commanded(base, [SUBMIT]))
    expect(fixture.run.transaction.status).toBe('stopped')
    expect(fixture.save).toMatchObject({ status: 'stopped', version: 2 })
  })

  it('A message keeps our results after a retry', () => {
    const submitted = folded(buildMessage(2), [SUBMIT])
    const fixture = RunFixture.claimed(submitted, 'held', LONG).tick().answer(0, 'action', 'success')
    learning(fixture, commanded(submitted, [RETRY_NOW]))
    expect(fixture.run.transaction).toMatchObject({
      manualRetries: 1,
      branches: [{ action: { state: 'succeeded' } }, {}],
    })
  })
})

describe('a claim at the deadline', () => {
  it('A claim at the deadline decides at once, and makes no call before that is durable', () => {
    const fixture = RunFixture.claimed(BASE, 'held', LONG).tick(TCC_DEADLINE_MS)
    expect([fixture.types, fixture.calls]).toEqual([['save'], []])
    expect(fixture.saved().calls).toEqual(['01 cancel #1'])
    expect(fixture.run.transaction).toEqual(
      folded(BASE, [TIME, sending([0, 'cancel'])], CREATED_AT + TCC_DEADLINE_MS),
    )
  })
})
