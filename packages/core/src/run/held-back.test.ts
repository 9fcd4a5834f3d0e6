import { describe, expect, it } from 'vitest'
import { NODE_START, RunFixture } from '../../test/run-fixture.ts'
import { CREATED_AT, parallel, serial } from '../../test/sagas.ts'
import { table } from '../../test/table.ts'
import { PARKED_AT } from '../ports/store.ts'
import { viewTransaction } from '../record/view.ts'
import type { CallKey } from '../rules/events.ts'
import { PARKED_OP_AT } from '../rules/op-progress.ts'

const FIRST: CallKey = { branch: 0, op: 'action' }

function holdBack(fixture: RunFixture, call: CallKey, waitMs: number, attempt = 1): RunFixture {
  return fixture.step({ type: 'held-back', calls: [{ call, attempt, waitMs }] })
}

describe('S40: a call that found no room', () => {
  it('was no attempt, no failure and no wait, and is made when its time has come', () => {
    const fixture = holdBack(RunFixture.accepted(serial(2)).tick(), FIRST, 100)
    expect(fixture.saga.branches[0]?.action).toMatchObject({
      state: 'waiting',
      attempts: 0,
      failures: 0,
      waits: 0,
    })
    // The call never began, so its age for parking does not count yet.
    expect(fixture.saga.branches[0]?.action).not.toHaveProperty('startedAt')
    expect([fixture.save, fixture.wakeAt]).toEqual([undefined, NODE_START + 100])
    expect(fixture.tick(99).calls).toEqual([])
    expect(fixture.tick(1).calls).toEqual(['01 action #1'])
  })

  it('for longer than holdMs is given back with one save, due then, and not as one whose owner died', () => {
    const saga = { ...serial(2), claimsUnanswered: 7 }
    const fixture = holdBack(RunFixture.claimed(saga, 'unknown').tick(), FIRST, 20_000)
    expect(fixture.save).toMatchObject({
      hold: { type: 'release', dueAt: CREATED_AT + 20_000 },
      attention: false,
    })
    expect(fixture.run.transaction.claimsUnanswered).toBe(0)
    expect(fixture.saved().run.ended).toBe(true)
  })

  it('keeps those in memory whose other calls are under way', () => {
    const fixture = holdBack(RunFixture.accepted(parallel(2)).tick(), FIRST, 20_000)
    expect(fixture.save).toBeUndefined()
    expect(fixture.answer(1, 'action', 'success').save).toMatchObject({ hold: { type: 'release' } })
  })

  it('is held back with the others of its transaction in one step, each until its own time', () => {
    const fixture = RunFixture.accepted(parallel(3)).tick()
    const held = (branch: number, waitMs: number, attempt = 1) =>
      ({ call: { branch, op: 'action' }, attempt, waitMs }) as const
    fixture.step({ type: 'held-back', calls: [held(0, 100), held(1, 200), held(2, 100, 7)] })
    expect(fixture.saga.branches.map(({ action }) => action.state)).toEqual(['waiting', 'waiting', 'calling'])
    expect(fixture.tick(100).calls).toEqual(['01 action #1'])
    expect(fixture.tick(100).calls).toEqual(['02 action #1'])
  })

  it('is not made any more once its saga has turned around, and no longer keeps its compensation waiting', () => {
    const fixture = RunFixture.accepted(parallel(2)).tick().answer(1, 'action', 'failure').saved()
    expect(fixture.calls).toEqual(['02 compensate #1'])
    holdBack(fixture, FIRST, 20_000)
    expect(fixture.saga.branches[0]?.action).toMatchObject({ state: 'idle', attempts: 0 })
    expect(fixture.calls).toEqual(['01 compensate #1'])
  })

  it('keeps the time at which an earlier attempt of it began', () => {
    const fixture = RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'unknown').saved().tick(1_000)
    const { startedAt } = fixture.saga.branches[0]?.action ?? {}
    holdBack(fixture, FIRST, 100, 2)
    expect(fixture.saga.branches[0]?.action).toMatchObject({ attempts: 1, startedAt })
  })

  it('of another attempt, or one that has been answered, changes nothing', () => {
    const fixture = RunFixture.accepted(serial(1)).tick()
    const before = fixture.run.transaction
    holdBack(fixture, FIRST, 100, 2)
    expect(fixture.run.transaction).toBe(before)
    fixture.answer(0, 'action', 'success')
    const { transaction } = fixture.run
    expect(holdBack(fixture, FIRST, 100).run.transaction).toBe(transaction)
  })
})

describe('S40: a call that has failed for longer than parkAfterMs', () => {
  const bounds = { floorMs: 1_000, parkAfterMs: 3_600_000 }
  const ask = (fixture: RunFixture, result: 'unknown' | 'ongoing' = 'unknown') =>
    fixture.step({
      type: 'answered',
      call: FIRST,
      attempt: fixture.saga.branches[0]?.action.attempts ?? 0,
      answer: { result },
      durationMs: 1,
      jitter01: 0,
      bounds,
    })
  /**
   * The branch was called first long ago and has failed five times, by default
   * since CREATED_AT. It is called again after `afterMs`.
   */
  function askedAgain(
    afterMs: number,
    failing: { readonly failingSince?: number } = { failingSince: CREATED_AT },
  ): RunFixture {
    const saga = serial(1)
    const counted = { attempts: 5, failures: 5, waits: 5, startedAt: CREATED_AT - 9_999_999 }
    const action = { state: 'waiting', ...counted, ...failing } as const
    const branches = saga.branches.map((branch) => ({ ...branch, action }))
    const fixture = RunFixture.claimed({ ...saga, branches }, 'unknown').tick()
    fixture.now += afterMs
    fixture.run = { ...fixture.run, leaseUntil: fixture.now + 10_000 }
    return fixture
  }

  it('is asked no more, and its saga is parked for a person', () => {
    const fixture = ask(askedAgain(3_600_000))
    expect(fixture.save).toMatchObject({ attention: true, hold: { type: 'release', dueAt: PARKED_AT } })
    expect(fixture.run.transaction.attention).toBe(
      'action of branch 01 is parked until it is retried: it failed 6 times',
    )
    const [op] = viewTransaction(fixture.run.transaction, 'submitted').branches[0]?.ops ?? []
    expect(op).toMatchObject({ state: 'waiting' })
    expect(op).not.toHaveProperty('nextAt')
  })

  it('goes on when an operator says retry, and is parked again by its next failure', () => {
    const fixture = ask(askedAgain(3_600_000))
    expect(fixture.saga.branches[0]?.action.nextAt).toBe(PARKED_OP_AT)
    const again = RunFixture.claimed(fixture.run.transaction, 'unknown')
    again.step({ type: 'command', command: { type: 'retry-asked' } }).saved()
    expect(again.calls).toEqual(['01 action #7'])
    expect(again.run.transaction.attention).toBeUndefined()
    again.now += 3_600_001
    again.run = { ...again.run, leaseUntil: again.now + 10_000 }
    expect(ask(again).saga.branches[0]?.action.nextAt).toBe(PARKED_OP_AT)
  })

  it('before that time goes on by its back-off', () => {
    const fixture = ask(askedAgain(3_599_999))
    expect(fixture.save?.hold).toMatchObject({ type: 'release', dueAt: CREATED_AT + 3_599_999 + 6_400 })
    expect(fixture.run.transaction.attention).toBeUndefined()
  })

  for (const { title, cells } of table`
    failing for  answer   → then         parked
    never        unknown  → 0            no
    never        ongoing  → never        no
    3600000      unknown  → 3600000      yes
    3600000      ongoing  → never        no
    3599999      unknown  → 3599999      no
  `) {
    it(`counts from the first failure behind the last answer ongoing: ${title}`, () => {
      const failingMs = Number(cells['failing for'])
      const fixture = askedAgain(failingMs || 3_600_000, failingMs > 0 ? { failingSince: CREATED_AT } : {})
      ask(fixture, cells.answer as 'unknown' | 'ongoing')
      const { failingSince, nextAt } = fixture.saga.branches[0]?.action ?? {}
      expect(failingSince === undefined ? 'never' : String(fixture.storeNow - failingSince)).toBe(cells.then)
      expect(nextAt === PARKED_OP_AT ? 'yes' : 'no').toBe(cells.parked)
    })
  }
})
