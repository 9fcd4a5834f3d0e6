import { describe, expect, it } from 'vitest'
import { abort, edit, pause, resume, retry, retryOp, skip, stop } from '../../test/operator.ts'
import { ABORT, buildTcc, folded, SUBMIT, sending } from '../../test/prepared.ts'
import { RunFixture } from '../../test/run-fixture.ts'
import { after, answered, parallel, sent, serial } from '../../test/sagas.ts'
import { startSaga } from '../../test/submissions.ts'
import type { GivenCommand } from '../rules/events.ts'
import type { Transaction } from '../transaction.ts'

/** Our command meets the conflict that another node's write under our token has caused. */
function meet(ours: GivenCommand, base: Transaction, stored: Transaction): RunFixture {
  return RunFixture.accepted(base).step({ type: 'command', command: ours }).conflict().reread(stored)
}

const ids = ({ trail = [] }: Transaction) => trail.map(({ id }) => id)

describe('a command of ours that meets one of another node', () => {
  it('Both entries stay, the durable one first', () => {
    const { run } = meet(retry('ours'), serial(1), after(serial(1), [pause('theirs')]))
    expect(ids(run.transaction)).toEqual(['theirs', 'ours'])
    expect(run.transaction.paused).toBeDefined()
  })

  it('The later one of a pause and a resume counts, and ours is later', () => {
    const paused = after(serial(1), [pause('before')])
    const resumed = meet(resume('ours'), paused, after(paused, [pause('theirs', 9_000_000)]))
    expect(resumed.run.transaction).not.toHaveProperty('paused')
    const again = meet(pause('ours', 9_000_000), paused, after(paused, [resume('theirs')]))
    expect(again.run.transaction.paused).toMatchObject({ until: 9_000_000 })
  })

  it('Our abort that comes after a foreign submit is not done, so it has no entry', () => {
    const { run } = meet(abort('ours'), buildTcc(1), folded(buildTcc(1), [SUBMIT]))
    expect(run.transaction.status).toBe('submitted')
    expect(ids(run.transaction)).toEqual([])
  })

  it('Our abort after a foreign abort has an entry, because it is what was asked', () => {
    const { run } = meet(abort('ours'), serial(1), after(serial(1), [abort('theirs')]))
    expect(ids(run.transaction)).toEqual(['theirs', 'ours'])
  })

  it('Our skip of an action after a foreign abort is taken back', () => {
    const { run } = meet(skip('01', 'action'), serial(2), after(serial(2), [ABORT]))
    expect(run.transaction).toMatchObject({
      status: 'aborting',
      branches: [{ action: { state: 'idle' } }, {}],
    })
    expect(ids(run.transaction)).toEqual([])
    const ended = meet(skip('01', 'action'), serial(1), after(serial(1), [abort('theirs')]))
    expect(ended.run.transaction).toMatchObject({ status: 'aborting' })
    expect(ids(ended.run.transaction)).toEqual(['theirs'])
  })

  it('Our skip of a pivot after a foreign abort leaves no mark of no return', () => {
    const saga = startSaga({
      branches: [
        { action: 'http://bank.test/pay', role: 'pivot' },
        { action: 'http://bank.test/m', role: 'retriable' },
      ],
    })
    const { run } = meet(skip('01', 'action'), saga, after(saga, [ABORT]))
    expect(run.transaction).not.toHaveProperty('noReturnAt')
  })

  it('Our skip and our edit stay after a foreign retry', () => {
    const skipped = meet(skip('01', 'action'), parallel(2), after(parallel(2), [retry('theirs')]))
    expect(ids(skipped.run.transaction)).toEqual(['theirs', 'skip-01-action'])
    expect(skipped.saga.branches[0]?.action.state).toBe('succeeded')
    const command = edit('01', 'action', { url: 'http://other.test/' })
    const edited = meet(command, parallel(2), after(parallel(2), [retry('theirs')]))
    expect(edited.run.transaction.edits).toMatchObject([{ url: 'http://other.test/' }])
  })

  it('Our stop stays', () => {
    const { run } = meet(stop('ours'), serial(1), after(serial(1), [pause('theirs')]))
    expect(run.transaction).toMatchObject({ status: 'stopped' })
    expect(run.transaction).not.toHaveProperty('paused')
    expect(ids(run.transaction)).toEqual(['theirs', 'ours'])
  })

  it('A foreign stop ends it, and ours is judged by that', () => {
    const { run } = meet(pause('ours'), serial(1), after(serial(1), [stop('theirs')]))
    expect(run.transaction.status).toBe('stopped')
    expect(ids(run.transaction)).toEqual(['theirs'])
  })
})

describe('a command of another node that a run learns of', () => {
  it('A pause lets no further call start, and the row is given back when calls have ended', () => {
    const fixture = RunFixture.accepted(serial(2)).tick()
    fixture.step({
      type: 'renewed',
      grant: { sentAt: fixture.now, now: fixture.now, storeNow: fixture.storeNow },
      version: 2,
    })
    fixture
      .reread(after(serial(2), [pause('theirs')]))
      .saved()
      .answer(0, 'action', 'success')
    expect(fixture.calls).toEqual([])
    expect(fixture.save?.hold).toMatchObject({ type: 'release' })
    expect(fixture.saga.branches[0]?.action.state).toBe('succeeded')
  })

  it('The retry of one op hurries that op alone', () => {
    const waiting = after(parallel(2), [
      sent([0, 'action'], [1, 'action']),
      answered(0, 'action', 'unknown'),
      answered(1, 'action', 'unknown'),
    ])
    const { run } = RunFixture.accepted(waiting)
      .step({ type: 'command', command: pause('p') })
      .conflict()
    const fixture = new RunFixture(run).reread(after(waiting, [retryOp('02', 'action', 'theirs')]))
    expect(fixture.saga.branches.map(({ action }) => action.nextAt === undefined)).toEqual([false, true])
  })

  it('Entries of a decided TCC stay when ours is decided the same way', () => {
    const decided = folded(buildTcc(1), [SUBMIT, sending([0, 'confirm'])])
    const fixture = RunFixture.accepted(decided)
      .step({ type: 'command', command: pause('ours') })
      .conflict()
    fixture.reread(folded(folded(buildTcc(1), [SUBMIT]), [retry('theirs')]))
    expect(ids(fixture.run.transaction)).toEqual(['theirs', 'ours'])
  })
})
