import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { GRANT, NODE_START, RunFixture, SETTINGS } from '../../test/run-fixture.ts'
import { after, answered, buildRow, buildSaga, CREATED_AT, sent, serial, TOKEN } from '../../test/sagas.ts'
import { PARKED_AT, type StoredTransaction } from '../ports/store.ts'
import { RULES } from '../rules/rules.ts'
import type { Transaction } from '../transaction.ts'
import { CLAIMS_UNANSWERED_MAX, CLAIMS_WITHOUT_PROGRESS_MAX } from './rest-mark.ts'
import type { Run } from './run.ts'
import { REST_LEASES_MAX, type TakeOver, takeOver } from './take-over.ts'

function take(
  transaction: Transaction,
  row: Partial<StoredTransaction> = {},
  storeNow = CREATED_AT,
): TakeOver {
  return takeOver(RULES, buildRow(transaction, row), SETTINGS, { ...GRANT, storeNow })
}

function readRun(taken: TakeOver): Run {
  if (taken.type !== 'run') throw new Error(`it was not run: ${taken.reason}`)
  return taken.run
}

/** Takes the row over and makes the first step of its run. */
function firstStep(
  transaction: Transaction,
  row: Partial<StoredTransaction> = {},
  storeNow = CREATED_AT,
): RunFixture {
  return new RunFixture(readRun(take(transaction, row, storeNow))).tick()
}

describe('a claimed row', () => {
  it('A claimed row goes on where its record ends', () => {
    const saga = after(serial(2), [sent([0, 'action']), answered(0, 'action', 'success')])
    const fixture = firstStep(saga, { version: 7, epoch: 3, sentList: 'held' })
    expect(fixture.calls).toEqual(['02 action #1'])
    expect(fixture.run).toMatchObject({ version: 7, token: TOKEN, transaction: { epoch: 3 } })
  })

  it('A claimed row repeats the call in flight, whose answer will not arrive here', () => {
    const saga = after(serial(1), [sent([0, 'action'])])
    expect(firstStep(saga, { sentList: 'held' }).calls).toEqual(['01 action #2'])
  })

  it('A claimed row compensates every branch when the list of sent actions is not known', () => {
    const fixture = firstStep(serial(3), { sentList: 'unknown' }).answer(0, 'action', 'failure')
    expect(JSON.parse(fixture.save?.progress ?? '{}')).toMatchObject({ abort: { branches: [0, 1, 2] } })
    expect(fixture.saved().calls).toEqual(['03 compensate #1'])
  })

  it('A claimed row compensates the recorded branches after a clean release', () => {
    const fixture = firstStep(serial(3), { sentList: 'held' }).answer(0, 'action', 'failure')
    expect(fixture.saved().calls).toEqual(['01 compensate #1'])
  })

  it('The lease of a claimed row counts from when the claim was sent', () => {
    expect(readRun(take(serial(1))).leaseUntil).toBe(NODE_START + SETTINGS.leaseMs)
  })

  it('A claimed row aborts at once after its deadline, and makes no call before that is durable', () => {
    const saga = serial(2, { deadlineMs: 5_000 })
    const fixture = firstStep(saga, { sentList: 'unknown' }, CREATED_AT + 5_000)
    expect(fixture.types).toEqual(['save'])
    expect(fixture.save).toMatchObject({ status: 'aborting', hold: { type: 'keep' } })
    expect(fixture.run.durableTransaction.status).toBe('submitted')
    expect(fixture.saved().calls).toEqual(['02 compensate #1'])
  })

  it('A claimed row goes forward one millisecond before its deadline', () => {
    const fixture = firstStep(serial(2, { deadlineMs: 5_000 }), { sentList: 'unknown' }, CREATED_AT + 4_999)
    expect(fixture.calls).toEqual(['01 action #1'])
  })
})

describe('a claimed row with nothing left to undo', () => {
  const inFlight = after(buildSaga([{ compensation: false }]), [sent([0, 'action']), { type: 'abort-asked' }])
  const later = CREATED_AT + 60_000

  it('A claimed row with nothing left to undo is not shown as failed before that is saved', () => {
    expect(readRun(take(inFlight, {}, later)).durableTransaction.status).toBe('aborting')
  })

  it('A claimed row with nothing left to undo is saved as failed, and ends when that is durable', () => {
    const fixture = firstStep(inFlight, {}, later)
    expect(fixture.save).toMatchObject({ status: 'failed', hold: { type: 'finish' } })
    expect(JSON.parse(fixture.save?.progress ?? '{}')).toMatchObject({ finishedAt: later })
    expect(fixture.saved().end).toEqual({ type: 'ended', how: 'finished' })
  })

  it('A claimed row with nothing left to undo ends, too, when another node gave the abort', () => {
    const asked = after(buildSaga([{ compensation: false }]), [{ type: 'abort-asked' }])
    expect(firstStep(asked, { sentList: 'unknown' }, later).save).toMatchObject({ status: 'failed' })
  })
})

describe('a row that stops its runners', () => {
  it('A row runs up to three times without progress', () => {
    expect(take(serial(1), { claimsWithoutProgress: 3 }).type).toBe('run')
  })

  it('A row rests after the fourth claim without progress, with the reason in its record', () => {
    const saga = after(serial(2), [sent([0, 'action']), answered(0, 'action', 'success')])
    const rests = take(saga, { claimsWithoutProgress: 4, version: 9 }, CREATED_AT + 70)
    expect(rests).toMatchObject({
      type: 'rest',
      reason: 'claimed 3 times without progress',
      update: {
        gid: 'order-4711',
        token: TOKEN,
        version: 9,
        status: 'submitted',
        attention: true,
        problem: '– no-progress',
        hold: { type: 'release' },
      },
    })
    if (rests.type !== 'rest') throw new Error('it does not rest')
    expect(JSON.parse(rests.update.progress)).toMatchObject({
      attention: 'claimed 3 times without progress',
      b: [{ a: { state: 'succeeded' } }],
    })
    expect(rests.update).not.toHaveProperty('sentList')
  })

  it('A rest lasts six to nine leases, and differs for each claim and each row', () => {
    const dueAt = (row: Partial<StoredTransaction>) => {
      const rests = take(serial(1), { claimsWithoutProgress: 4, ...row }, CREATED_AT + 70)
      if (rests.type !== 'rest' || rests.update.hold.type !== 'release') throw new Error('it does not rest')
      return rests.update.hold.dueAt
    }
    const dues = Array.from({ length: 200 }, (_, i) => dueAt({ gid: `order-${4_000 + i}` as Gid, epoch: 5 }))
    const leases = dues.map((due) => (due - CREATED_AT - 70) / SETTINGS.leaseMs)
    expect(Math.min(...leases)).toBeGreaterThanOrEqual(6)
    expect(Math.max(...leases)).toBeLessThanOrEqual(REST_LEASES_MAX)
    for (const third of [6, 7, 8])
      expect(leases.filter((lease) => Math.floor(lease) === third).length).toBeGreaterThan(40)
    expect(dueAt({ epoch: 6 })).not.toBe(dueAt({ epoch: 5 }))
  })

  it('A resting row keeps its earlier attention reason', () => {
    const failing = { ...serial(1), attention: 'compensation of branch 01 answered failure' }
    const rests = take(failing, { claimsWithoutProgress: 4 })
    if (rests.type !== 'rest') throw new Error('it does not rest')
    expect(JSON.parse(rests.update.progress)).toMatchObject({
      attention: 'compensation of branch 01 answered failure; claimed 3 times without progress',
    })
  })

  it('A row runs again after its rest, and rests again after one more claim', () => {
    const rested = { ...serial(1), attention: 'claimed 3 times without progress' }
    expect(take(rested, { claimsWithoutProgress: 1 }).type).toBe('run')
    expect(take(rested, { claimsWithoutProgress: 2 }).type).toBe('rest')
  })

  for (const broken of [
    { definition: 'not JSON' },
    { definition: '{"kind":"unheard-of","branches":[]}' },
    { progress: '[' },
    { progress: '"text"' },
    { progress: '{"b":[null]}' },
    { progress: '{"b":[{"a":null}]}' },
    { progress: '{"attention":7}' },
    { status: 'aborting' },
    { status: 'prepared' },
  ] as const) {
    it(`is parked untouched when it cannot be read: ${JSON.stringify(broken)}`, () => {
      const parked = take(serial(1), { version: 2, marks: ['edited'], problem: 'bank action 500', ...broken })
      if (parked.type !== 'park') throw new Error('it was not parked')
      const row = buildRow(serial(1), broken)
      expect(parked.update).toMatchObject({
        progress: row.progress,
        status: row.status,
        format: row.format,
        attention: true,
        problem: '– record-unreadable',
        marks: ['edited'],
        hold: { type: 'release', dueAt: PARKED_AT },
      })
      expect(parked.reason).toMatch(/^record cannot be read: /)
    })
  }

  it('A fault of this code never parks a row, which rests after too many claims', () => {
    const fault = new TypeError('a fault of this code')
    const faulty = (claimsWithoutProgress: number) =>
      Object.defineProperty({ ...buildRow(serial(1)), claimsWithoutProgress }, 'definition', {
        get: () => {
          throw fault
        },
      })
    const at = (claims: number) => takeOver(RULES, faulty(claims), SETTINGS, GRANT)
    expect(() => at(CLAIMS_WITHOUT_PROGRESS_MAX)).toThrow(fault)
    const rested = at(CLAIMS_WITHOUT_PROGRESS_MAX + 1)
    expect(rested).toMatchObject({
      type: 'rest',
      update: { progress: buildRow(serial(1)).progress, attention: true, problem: '– no-progress' },
    })
  })
})

describe('a row whose runners live to a checkpoint, and not to an answer', () => {
  const NO_ANSWER = 'claimed 10 times without an answer'
  const { checkpointMs } = serial(1).definition

  /** Returns the row as the next owner finds it. */
  function leftBy(fixture: RunFixture): Partial<StoredTransaction> {
    return { progress: fixture.saves.at(-1)?.progress ?? '' }
  }

  /** An owner claims the row, calls the branch, saves the checkpoint and dies. */
  function liveToCheckpoint(row: Partial<StoredTransaction>): Partial<StoredTransaction> {
    const fixture = firstStep(serial(1), { ...row, claimsWithoutProgress: 1 })
    expect(fixture.calls).toHaveLength(1)
    fixture.tick(checkpointMs)
    return leftBy(fixture)
  }

  function afterRunners(count: number): Partial<StoredTransaction> {
    let row: Partial<StoredTransaction> = {}
    for (let i = 0; i < count; i++) row = liveToCheckpoint(row)
    return row
  }

  it('A row rests after ten claims without an answer, and after one more each time', () => {
    let row = afterRunners(CLAIMS_UNANSWERED_MAX)
    for (const time of ['first', 'second', 'third']) {
      const rests = take(serial(1), { ...row, claimsWithoutProgress: 1 })
      if (rests.type !== 'rest') throw new Error(`it does not rest for the ${time} time`)
      expect(rests.reason).toBe(NO_ANSWER)
      expect(JSON.parse(rests.update.progress)).toMatchObject({ attention: NO_ANSWER })
      row = liveToCheckpoint({ progress: rests.update.progress })
    }
  })

  it('Claims whose owner dies before a checkpoint count as claims without an answer, too', () => {
    const row = afterRunners(CLAIMS_UNANSWERED_MAX - 1)
    expect(take(serial(1), { ...row, claimsWithoutProgress: 1 }).type).toBe('run')
    expect(take(serial(1), { ...row, claimsWithoutProgress: 2 }).type).toBe('rest')
  })

  it('The count goes on when a release is refused', () => {
    const row = afterRunners(CLAIMS_UNANSWERED_MAX - 1)
    const fixture = firstStep(serial(1), { ...row, claimsWithoutProgress: 1 })
    fixture.step({ type: 'drain', when: 'now' }).conflict()
    expect(fixture.run.transaction.claimsUnanswered).toBe(CLAIMS_UNANSWERED_MAX)
  })

  for (const [what, live] of [
    ['an answer of any kind', (fixture: RunFixture) => fixture.answer(0, 'action', 'unknown')],
    ['a clean release', (fixture: RunFixture) => fixture.step({ type: 'drain', when: 'now' })],
    ['a retry', (fixture: RunFixture) => fixture.step({ type: 'command', command: { type: 'retry-asked' } })],
  ] as const) {
    it(`begins to count again after ${what}`, () => {
      const row = afterRunners(CLAIMS_UNANSWERED_MAX - 1)
      const fixture = live(firstStep(serial(1), { ...row, claimsWithoutProgress: 1 }))
      expect(fixture.save).toBeDefined()
      expect(JSON.parse(fixture.save?.progress ?? '')).not.toHaveProperty('claimsUnanswered')
      const next = take(serial(1), { ...leftBy(fixture), claimsWithoutProgress: 1 })
      expect(readRun(next).transaction.claimsUnanswered).toBe(1)
    })
  }
})
