import type { BranchId } from '@counterstep/protocol'
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
} from '../../test/prepared.ts'
import {
  after,
  answered,
  answerNext,
  buildRow,
  buildSaga,
  CREATED_AT,
  sent,
  serial,
  TOKEN,
} from '../../test/sagas.ts'
import { AssertionError } from '../errors.ts'
import { PARKED_AT, type StoredTransaction } from '../ports/store.ts'
import { FORMAT } from '../record/record.ts'
import type { Command } from '../rules/events.ts'
import { RULES } from '../rules/rules.ts'
import type { Transaction } from '../transaction.ts'
import { type CommandPlan, planCommand } from './command-row.ts'

const LATER = CREATED_AT + 3_000

type Asked = 'abort' | 'retry' | 'stop'

function plan(transaction: Transaction, command: Asked, row: Partial<StoredTransaction> = {}): CommandPlan {
  return planCommand(
    RULES,
    buildRow(transaction, { version: 4, ...row }),
    { type: `${command}-asked` },
    {
      retentionMs: 60_000,
      storeNow: LATER,
    },
  )
}

function readUpdate(planned: CommandPlan) {
  if (planned.type !== 'update') throw new Error(`it is ${planned.type}`)
  return { ...planned.update, record: JSON.parse(planned.update.progress) as unknown }
}

const started = after(serial(3), [sent([0, 'action'])])
const waiting = after(serial(1), [sent([0, 'action']), answered(0, 'action', 'unknown')])
const aborting = after(serial(2), [
  sent([0, 'action']),
  { type: 'abort-asked' },
  answered(0, 'action', 'success'),
])
const stuck = answerNext(aborting, 'failure')
const succeeded = after(serial(1), [sent([0, 'action']), answered(0, 'action', 'success')])

describe('an abort from a node that does not run the transaction', () => {
  it('An abort by another node takes every branch as sent, and the row records that', () => {
    expect(readUpdate(plan(started, 'abort', { sentList: 'held' }))).toMatchObject({
      token: TOKEN,
      version: 4,
      status: 'aborting',
      format: 1,
      sentList: 'unknown',
      hold: { type: 'command' },
      record: { abort: { cause: 'requested', at: LATER, branches: [0, 1, 2] } },
    })
  })

  it('An abort trusts the list of a clean release that was not claimed since', () => {
    const update = readUpdate(plan(serial(2), 'abort', { sentList: 'released', owned: false }))
    expect(update).toMatchObject({ record: { abort: { branches: [] } } })
    expect(update).not.toHaveProperty('sentList')
    const owned = readUpdate(plan(serial(2), 'abort', { sentList: 'released', owned: true }))
    expect(owned).toMatchObject({ sentList: 'unknown', record: { abort: { branches: [0, 1] } } })
  })

  it('An abort gives up the actions that wait for a retry', () => {
    expect(readUpdate(plan(waiting, 'abort'))).toMatchObject({ status: 'aborting', retrying: false })
  })

  it('An abort does nothing to a saga that aborts already', () => {
    expect(plan(aborting, 'abort').type).toBe('nothing')
  })

  it('comes too late for a final one', () => {
    expect(plan(succeeded, 'abort')).toMatchObject({ type: 'refused', refusal: 'already-final' })
  })

  it("An abort leaves the owner's call as it is, because the owner waits for it", () => {
    expect(readUpdate(plan(started, 'abort')).record).toMatchObject({ b: [{ a: { state: 'calling' } }] })
  })
})

describe('a stop from a node that does not run the transaction', () => {
  for (const [name, transaction] of Object.entries({ submitted: started, aborting })) {
    it(`finishes one that is ${name}`, () => {
      expect(readUpdate(plan(transaction, 'stop'))).toMatchObject({
        status: 'stopped',
        sentList: 'unknown',
        attention: false,
        hold: { type: 'finish', retentionMs: 60_000 },
        record: { finishedAt: LATER },
      })
    })
  }

  it('A stopped transaction is not retrying any more', () => {
    expect(readUpdate(plan(waiting, 'stop')).retrying).toBe(false)
  })

  it('comes too late for a final one', () => {
    expect(plan(succeeded, 'stop')).toMatchObject({ type: 'refused', refusal: 'already-final' })
  })
})

describe('a retry from a node that does not run the transaction', () => {
  it('A retry makes waiting calls due, is counted, and leaves the list of sent actions alone', () => {
    const update = readUpdate(plan(waiting, 'retry'))
    expect(update).toMatchObject({
      status: 'submitted',
      retrying: true,
      problem: 'bank.test action timeout',
      attempts: 1,
      hold: { type: 'command' },
      record: { nudges: 1, b: [{ a: { state: 'waiting', failures: 1 } }] },
    })
    expect(update.record).not.toHaveProperty('b.0.a.nextAt')
    expect(update).not.toHaveProperty('sentList')
  })

  it('A retry takes the attention away', () => {
    expect(stuck.attention).toBeDefined()
    const update = readUpdate(plan(stuck, 'retry'))
    expect(update).toMatchObject({ status: 'aborting', attention: false })
    expect(update.record).not.toHaveProperty('attention')
  })

  it('comes too late for a final one', () => {
    expect(plan(succeeded, 'retry')).toMatchObject({ type: 'refused', refusal: 'already-final' })
  })
})

describe('a command to a row that is prepared', () => {
  const DUE_AT = CREATED_AT + 35_000
  const given = (transaction: Transaction, command: Command, row: Partial<StoredTransaction> = {}) =>
    readUpdate(
      planCommand(
        RULES,
        buildRow(transaction, { owned: false, sentList: 'released', dueAt: DUE_AT, ...row }),
        command,
        {
          retentionMs: 60_000,
          storeNow: LATER,
        },
      ),
    )
  const waitingCheck = folded(buildMessage(1), [
    { type: 'sent', calls: [{ branch: CHECK_AT, op: 'msg' }] },
    answering(CHECK_AT, 'msg', 'unknown'),
  ])

  it('A prepared row still waits for its client after a branch is registered', () => {
    expect(given(buildTcc(0), register(0))).toMatchObject({
      status: 'prepared',
      format: 2,
      hold: { type: 'command', dueAt: DUE_AT },
      record: { r: [{ id: '01' }] },
    })
  })

  it.each([
    ['a TCC that is submitted', buildTcc(1), SUBMIT, 'submitted'],
    ['a TCC that is aborted', buildTcc(1), ABORT, 'aborting'],
    ['a TCC without a branch that is aborted', buildTcc(0), ABORT, 'aborting'],
    ['a message that is submitted', buildMessage(1), SUBMIT, 'submitted'],
    ['a message whose query-back waits and is asked for again', waitingCheck, RETRY_NOW, 'prepared'],
    ['a message that is asked for again', buildMessage(1), RETRY_NOW, 'prepared'],
  ] as const)('makes it due at once: %s', (_, transaction, command, status) => {
    expect(given(transaction, command)).toMatchObject({ status, format: 2, hold: { type: 'command' } })
    expect(given(transaction, command).hold).not.toHaveProperty('dueAt')
  })

  it.each([buildTcc(1), buildMessage(1)])(
    'a retry takes it out of its parking place: $kind',
    (transaction) => {
      const parked = { dueAt: PARKED_AT, attention: true }
      const update = given(
        { ...transaction, attention: 'claimed 3 times without progress' },
        RETRY_NOW,
        parked,
      )
      expect(update).toMatchObject({ attention: false, hold: { type: 'command' } })
      expect(update.hold).not.toHaveProperty('dueAt')
    },
  )

  it.each([
    ['a TCC without a branch that is submitted', buildTcc(0), SUBMIT, 'succeeded'],
    ['a message that is aborted', buildMessage(1), ABORT, 'failed'],
    ['a message that is stopped', buildMessage(1), STOP, 'stopped'],
  ] as const)('may be its end: %s', (_, transaction, command, status) => {
    expect(given(transaction, command)).toMatchObject({
      status,
      hold: { type: 'finish', retentionMs: 60_000 },
      record: { finishedAt: LATER },
    })
  })

  it.each([
    [register(0), 'held', undefined],
    [SUBMIT, 'held', undefined],
    [RETRY_NOW, 'held', undefined],
    [ABORT, 'held', 'unknown'],
    [STOP, 'held', 'unknown'],
    [ABORT, 'released', undefined],
    [STOP, 'released', undefined],
  ] as const)('%j on a row whose list is %s writes the list %s', (command, sentList, written) => {
    const update = given(buildTcc(0), command, { sentList })
    expect('sentList' in update ? update.sentList : undefined).toBe(written)
  })

  it.each([
    ['a branch that is there', buildTcc(1), register(0)],
    ['a submit that was given', folded(buildTcc(1), [SUBMIT]), SUBMIT],
    ['an abort that was given', folded(buildTcc(1), [ABORT]), ABORT],
    ['a submit of what has succeeded', folded(buildTcc(0), [SUBMIT]), SUBMIT],
  ] as const)('writes nothing again: %s', (_, transaction, command) => {
    const planned = planCommand(RULES, buildRow(transaction), command, { retentionMs: 1, storeNow: LATER })
    expect(planned.type).toBe('nothing')
  })
})

describe('a skip by hand of an op of a row without an owner', () => {
  it.each([
    ['held', 'confirmation-required'],
    ['unknown', 'confirmation-required'],
    ['released', undefined],
  ] as const)('The calls that an owner has sent may be unknown: the list is %s', (sentList, refusal) => {
    const given = { id: 'skip-1', by: { via: 'api' }, reason: 'it was done by hand' } as const
    const skip = {
      type: 'skip-asked',
      branchId: '01' as BranchId,
      op: 'action',
      doneBy: 'hand',
      given,
    } as const
    const paused = folded(serial(2), [{ type: 'pause-asked', given: { id: 'pause-1', by: { via: 'api' } } }])
    const row = buildRow(paused, { owned: false, sentList })
    const planned = planCommand(RULES, row, skip, { retentionMs: 1, storeNow: LATER })
    expect('refusal' in planned ? planned.refusal : undefined).toBe(refusal)
  })
})

describe('a row that this code cannot read', () => {
  for (const command of ['abort', 'retry', 'stop'] as const) {
    it(`is not written by ${command} when its format is newer`, () => {
      expect(() => plan(started, command, { format: FORMAT + 1 })).toThrow(AssertionError)
    })

    it(`is not written by ${command} when it is corrupted`, () => {
      expect(() => plan(started, command, { progress: '{"b":[null]}' })).toThrow(AssertionError)
      expect(() => plan(buildSaga([{}]), command, { definition: '{' })).toThrow(AssertionError)
    })
  }
})
