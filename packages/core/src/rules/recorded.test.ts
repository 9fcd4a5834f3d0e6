import { describe, expect, it } from 'vitest'
import {
  ABORT,
  answering,
  buildRecorded,
  CHECK_AT,
  END,
  END_FAILED,
  effectsAsText,
  folded,
  RETRY_NOW,
  report,
  STOP,
  SUBMIT,
  sending,
  TIME,
} from '../../test/prepared.ts'
import { buildRow, CREATED_AT, RETRY } from '../../test/sagas.ts'
import { transition } from '../../test/transition.ts'
import { planCommand } from '../commands/command-row.ts'
import { findRefusal, isDone, RECORDED_BYTES_MAX, RECORDS_MAX } from '../commands/refuse-command.ts'
import { decodeTransaction, encodeProgress, toFormat } from '../record/record.ts'
import { viewTransaction } from '../record/view.ts'
import type { RecordedTransaction } from '../transaction.ts'
import type { Command, TransactionEvent } from './events.ts'
import { ATTENTION_FAILURES, PARKED_OP_AT } from './op-progress.ts'
import { recordedEffects } from './recorded.ts'
import { RULES } from './rules.ts'

const FIRST_AT = CREATED_AT + RETRY.initialMs
const CALL_SENT = sending([CHECK_AT, 'msg'])
const fresh = buildRecorded()
const called = folded(fresh, [CALL_SENT], FIRST_AT)

function writeEffects(recorded: RecordedTransaction, now: number): string {
  return effectsAsText(recordedEffects(recorded, now))
}

describe('a recorded workflow', () => {
  it('Its client is called back after the first interval, and again and again while it has not ended', () => {
    expect(writeEffects(fresh, CREATED_AT)).toBe(`wake +${RETRY.initialMs}`)
    expect(writeEffects(fresh, FIRST_AT)).toBe('call msg')
    expect(writeEffects(called, FIRST_AT)).toBe('-')
    let recorded = called
    let now = FIRST_AT
    for (let attempt = 1; attempt < 5; attempt++) {
      recorded = folded(recorded, [answering(CHECK_AT, 'msg', 'unknown', { attempt })], now)
      const { nextAt = 0 } = recorded.check
      expect(nextAt).toBeGreaterThan(now)
      now = nextAt
      expect(writeEffects(recorded, now)).toBe('call msg')
      recorded = folded(recorded, [CALL_SENT], now)
    }
  })

  it('No answer of a callback ends it: each is waited for again, and only unknown ones count as failures', () => {
    for (const result of ['success', 'failure', 'ongoing', 'unknown'] as const) {
      const { next, durability } = transition(called, answering(CHECK_AT, 'msg', result), FIRST_AT)
      expect(next, result).toMatchObject({
        status: 'prepared',
        check: { state: 'waiting', waits: 1, failures: result === 'unknown' ? 1 : 0, result },
      })
      expect(durability).toBe('strong')
      expect(next.attention).toBeUndefined()
    }
  })

  it('A person is asked to look after as many unknown answers as for any call that is never given up', () => {
    let recorded = fresh
    for (let attempt = 1; attempt <= ATTENTION_FAILURES; attempt++) {
      expect(recorded.attention).toBeUndefined()
      const now = Math.min(recorded.check.nextAt ?? FIRST_AT, PARKED_OP_AT)
      recorded = folded(recorded, [CALL_SENT, answering(CHECK_AT, 'msg', 'unknown', { attempt })], now)
    }
    expect(recorded.attention).toBe(`the callback failed ${ATTENTION_FAILURES} times`)
    const alive = folded(recorded, [report(0)])
    expect(alive.attention).toBeUndefined()
    expect(alive.check).toMatchObject({ failures: 0, waits: 0 })
    expect(alive.check.failingSince).toBeUndefined()
    const during = folded(recorded, [CALL_SENT, report(0)], FIRST_AT)
    expect(during.check).toMatchObject({ state: 'calling', failures: 0, waits: 0 })
  })

  it('A report is a strong change, and puts the next callback off by the first interval', () => {
    const waiting = folded(called, [answering(CHECK_AT, 'msg', 'unknown')], FIRST_AT)
    for (const recorded of [fresh, waiting]) {
      const now = FIRST_AT + 5
      const { next, durability } = transition(recorded, report(0), now)
      expect(durability).toBe('strong')
      expect(next).toMatchObject({ records: [{ branchId: '01', op: 'action' }] })
      expect(writeEffects(next as RecordedTransaction, now)).toBe(`wake +${2 * RETRY.initialMs + 5}`)
    }
    // The callback that is under way is not called twice, and the one after it is put off.
    const during = folded(called, [report(0)], FIRST_AT)
    expect(writeEffects(during, FIRST_AT)).toBe('-')
    const answered = folded(during, [answering(CHECK_AT, 'msg', 'ongoing')], FIRST_AT)
    expect(writeEffects(answered, FIRST_AT)).toBe(`wake +${2 * RETRY.initialMs}`)
    const claimed = folded(during, [{ type: 'claimed', epoch: 2, sentUnknown: true }], FIRST_AT)
    expect(writeEffects(claimed, FIRST_AT)).toBe(`wake +${2 * RETRY.initialMs}`)
  })

  it('It ends once, as its client says, and nothing follows', () => {
    const succeeded = folded(called, [END], FIRST_AT)
    expect(succeeded).toMatchObject({ status: 'succeeded', result: 'ok', finishedAt: FIRST_AT })
    const failed = folded(called, [END_FAILED], FIRST_AT)
    expect(failed).toMatchObject({ status: 'failed', abort: { cause: 'requested', reason: 'no funds' } })
    const stopped = folded(called, [STOP], FIRST_AT)
    const events: readonly TransactionEvent[] = [
      ...[END, END_FAILED, STOP, RETRY_NOW, TIME, report(1)],
      answering(CHECK_AT, 'msg', 'success'),
    ]
    for (const ended of [succeeded, failed, stopped]) {
      for (const event of events) expect(folded(ended, [event], FIRST_AT + 1)).toBe(ended)
      expect(writeEffects(ended, FIRST_AT + 1)).toBe('-')
    }
  })

  it('What is for other kinds changes nothing', () => {
    for (const event of [SUBMIT, ABORT, TIME])
      expect(transition(fresh, event, FIRST_AT)).toMatchObject({ next: fresh, durability: 'none' })
  })

  it('A retry makes the callback due at once', () => {
    const waiting = folded(called, [answering(CHECK_AT, 'msg', 'ongoing')], FIRST_AT)
    for (const recorded of [fresh, waiting, folded(fresh, [report(0)])])
      expect(writeEffects(folded(recorded, [RETRY_NOW], CREATED_AT), CREATED_AT)).toBe('call msg')
  })
})

describe('a command for a recorded workflow', () => {
  const other = { type: 'end-asked', end: { status: 'succeeded', result: 'other' } } as const
  const reported = folded(fresh, [report(0)])
  const table: readonly (readonly [string, RecordedTransaction, Command, string | undefined])[] = [
    ['a report', fresh, report(0), undefined],
    ['the same report again', reported, report(0), undefined],
    ['another one of its name', reported, report(0, { data: '1' }), 'branch-exists'],
    ['a failure of its name', reported, report(0, { status: 'failed' }), 'branch-exists'],
    ['another op of its branch', reported, report(0, { op: 'commit' }), undefined],
    ['a report after the end', folded(fresh, [END]), report(0), 'not-prepared'],
    ['the same end again', folded(fresh, [END]), END, undefined],
    ['the same failure again', folded(fresh, [END_FAILED]), END_FAILED, undefined],
    ['another result', folded(fresh, [END]), other, 'already-final'],
    ['the other end', folded(fresh, [END]), END_FAILED, 'already-final'],
    ['an end after a stop', folded(fresh, [STOP]), END, 'already-final'],
    ['one report too many', buildRecorded(RECORDS_MAX), report(RECORDS_MAX), 'too-many-branches'],
    [
      'too many bytes',
      folded(fresh, [report(0, { data: 'x'.repeat(RECORDED_BYTES_MAX) })]),
      report(1),
      'too-large',
    ],
    ['an abort', fresh, ABORT, 'wrong-kind'],
    ['a submit', fresh, SUBMIT, 'wrong-kind'],
  ]
  it.each(table)('%s', (_, recorded, command, refusal) => {
    expect(findRefusal(recorded, command, FIRST_AT)).toBe(refusal)
  })

  it('A command is done if and only if the state has it', () => {
    expect(isDone(reported, report(0))).toBe(true)
    expect(isDone(reported, report(0, { data: '1' }))).toBe(false)
    expect(isDone(fresh, report(0))).toBe(false)
    expect(isDone(folded(fresh, [END]), END)).toBe(true)
    expect(isDone(folded(fresh, [END]), other)).toBe(false)
    expect(isDone(folded(fresh, [END_FAILED]), END)).toBe(false)
  })

  it('A report on a row without an owner makes it due when its client is called back', () => {
    const row = { ...buildRow(fresh), owned: false }
    const plan = planCommand(RULES, row, report(0), { retentionMs: 'never', storeNow: FIRST_AT })
    if (plan.type !== 'update') throw new Error(plan.type)
    expect(plan.update.hold).toEqual({ type: 'command', dueAt: FIRST_AT + RETRY.initialMs })
  })
})

describe('the record of a recorded workflow', () => {
  it('What is encoded is read back, under the format that older code does not read', () => {
    const states = [fresh, called, folded(called, [report(0), report(1)]), folded(fresh, [report(0), END])]
    for (const recorded of [...states, folded(fresh, [END_FAILED]), folded(called, [STOP])]) {
      expect(toFormat(recorded)).toBe(9)
      const row = { ...buildRow(recorded), progress: encodeProgress(recorded), updatedAt: recorded.updatedAt }
      expect(decodeTransaction(row)).toEqual(recorded)
    }
  })

  it('The view shows the steps without their data, and the callback', () => {
    const view = viewTransaction(folded(called, [report(0, { data: 'secret' })]), 'prepared')
    expect(view.records).toEqual([{ branchId: '01', op: 'action', status: 'succeeded' }])
    expect(view.check).toMatchObject({ op: 'msg', state: 'calling', attempts: 1 })
    expect(JSON.stringify(view)).not.toContain('secret')
  })
})
