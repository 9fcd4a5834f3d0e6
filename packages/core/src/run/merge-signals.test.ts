import { describe, expect, it } from 'vitest'
import { GRANT, NODE_START, RunFixture, SETTINGS } from '../../test/run-fixture.ts'
import { buildRow, CREATED_AT } from '../../test/sagas.ts'
import { startSaga } from '../../test/submissions.ts'
import { planCommand } from '../commands/command-row.ts'
import type { StoredTransaction } from '../ports/store.ts'
import { decodeTransaction } from '../record/record.ts'
import type { Command } from '../rules/events.ts'
import { RULES } from '../rules/rules.ts'
import type { SagaTransaction, Transaction } from '../transaction.ts'

const PAY = {
  id: 'pay',
  action: 'http://bank.test/pay',
  template: { by: { $from: 'approved', at: '/by', else: '' } },
}
const SAGA = startSaga({
  branches: [{ id: 'approved', wait: { signal: 'approval', timeoutMs: 100 } }, PAY],
})

function signal(id: string, name = 'approval', payload = '{"by":"kim"}'): Command {
  return { type: 'signal-asked', signal: { name, id, digest: `${name}${payload}`, payload } }
}

/** Builds the row after another node, which read it as `stored`, has given it this command. */
function commanded(stored: Transaction, command: Command, row: Partial<StoredTransaction> = {}) {
  const before = buildRow(stored, row)
  const plan = planCommand(RULES, before, command, {
    retentionMs: SETTINGS.retentionMs,
    storeNow: CREATED_AT,
  })
  if (plan.type !== 'update') throw new Error(`it is ${plan.type}`)
  const { writeId: _, ...known } = before
  const { hold, ...written } = plan.update
  const after: StoredTransaction = { ...known, ...written, writeId: 'w2', version: before.version + 1 }
  return { row: after, hold }
}

/** Lets the save in flight be refused, and the row be read again. */
function learn(fixture: RunFixture, row: StoredTransaction): RunFixture {
  return fixture.conflict().step({ type: 'reread', row })
}

/** The wait has opened, and the time of its signal is over here; the save of that is in flight. */
function closing(): RunFixture {
  const fixture = RunFixture.accepted(SAGA).tick()
  fixture.now = NODE_START + 100
  fixture.tick()
  expect(fixture.saga.branches[0]?.action.state).toBe('failed')
  return fixture
}

describe('A signal that another node has stored', () => {
  it('A stored signal ends the wait, whatever this node had decided in its memory', () => {
    const open = RunFixture.accepted(SAGA).tick().saga
    const { row, hold } = commanded(open, signal('click-1'))
    expect(hold).toEqual({ type: 'command' })
    const fixture = learn(closing(), row)
    expect(fixture.saga.branches[0]?.action).toMatchObject({ state: 'succeeded', values: ['"kim"'] })
    expect(fixture.saga.signals).toMatchObject([{ id: 'click-1', takenBy: 0 }])
    expect(fixture.saved().calls).toEqual(['02 action #1'])
  })

  it('A saga whose last wait another node has ended is done, though its deadline was decided here before', () => {
    // The simulator found it: seed 88001352.
    const last = startSaga({
      deadlineMs: 50,
      branches: [{ id: 'approved', wait: { signal: 'approval', onTimeout: 'continue' } }],
    })
    const fixture = RunFixture.accepted(last).tick()
    const { row } = commanded(fixture.saga, signal('click-1'))
    fixture.now = NODE_START + 50
    fixture.tick()
    expect(fixture.saga.status).toBe('aborting')
    learn(fixture, row)
    expect(fixture.saga.status).toBe('succeeded')
    expect(fixture.save).toMatchObject({ status: 'succeeded', hold: { type: 'finish' } })
  })

  it('A signal that was stored as kept is taken when this node learns of it', () => {
    // The row does not have the opening yet, so the other node cannot give the signal to the wait.
    const { row, hold } = commanded(SAGA, signal('click-1'))
    expect(hold).toEqual({ type: 'command', dueAt: row.dueAt })
    const fixture = learn(closing(), row)
    expect(fixture.saga.branches[0]?.action.state).toBe('succeeded')
    expect(fixture.saga.signals).toMatchObject([{ id: 'click-1', takenBy: 0 }])
  })

  it('A signal that was stored as kept is taken by a wait that only this node knows to be open', () => {
    const opened = RunFixture.accepted(SAGA).tick()
    opened.now = NODE_START + 50
    const grant = { ...GRANT, sentAt: opened.now, now: opened.now, storeNow: opened.storeNow }
    opened.step({ type: 'renewed', grant, version: 2 })
    opened.step({ type: 'reread', row: commanded(SAGA, signal('click-1')).row })
    expect(opened.saga.branches[0]?.action).toMatchObject({ state: 'succeeded', values: ['"kim"'] })
    expect(opened.saga.signals).toMatchObject([{ id: 'click-1', takenBy: 0 }])
    expect(opened.saved().calls).toEqual(['02 action #1'])
  })

  it('An open wait takes its kept signal, even if the clock of the store was set back before the accept', () => {
    const opened = RunFixture.accepted(SAGA).tick()
    opened.now = NODE_START + 50
    const grant = { ...GRANT, sentAt: opened.now, now: opened.now, storeNow: CREATED_AT - 1_000 }
    opened.step({ type: 'renewed', grant, version: 2 })
    opened.step({ type: 'reread', row: commanded(SAGA, signal('click-1')).row })
    expect(opened.saga.branches[0]?.action.state).toBe('succeeded')
    expect(opened.saga.signals).toMatchObject([{ id: 'click-1', takenBy: 0 }])
  })

  it('All signals that were stored as kept are taken by the waits that only this node knows to be open', () => {
    const branch = { wait: { signal: 'approval' }, after: [] }
    const two = startSaga({
      branches: [
        { ...branch, id: 'approved' },
        { ...branch, id: 'confirmed' },
        { ...PAY, after: ['approved', 'confirmed'] },
      ],
    })
    const opened = RunFixture.accepted(two)
      .tick()
      .step({ type: 'command', command: { type: 'retry-asked' } })
    const { row: first } = commanded(two, signal('click-1'))
    const { row: second } = commanded(decodeTransaction(first), signal('click-2'), { version: first.version })
    learn(opened, second)
    expect(opened.saga.signals).toMatchObject([
      { id: 'click-1', takenBy: 0 },
      { id: 'click-2', takenBy: 1 },
    ])
  })

  it('A signal of this node that was not stored is gone, so that its caller gives it again', () => {
    const mine = RunFixture.accepted(SAGA)
      .tick()
      .step({ type: 'command', command: signal('mine') })
    const { row } = commanded(mine.run.durableTransaction, signal('theirs'))
    const fixture = learn(mine, row)
    expect(fixture.saga.signals?.map(({ id }) => id)).toEqual(['theirs'])
    expect(fixture.saga.branches[0]?.action.state).toBe('succeeded')
  })

  it('A timeout that was refused for another reason is decided again on top of the row', () => {
    const open = RunFixture.accepted(SAGA).tick().saga
    const retried = commanded(open, { type: 'retry-asked' }).row
    const fixture = learn(closing(), retried)
    expect(fixture.saga.branches[0]?.action.state).toBe('failed')
    expect(fixture.saved().saga).toMatchObject({ status: 'aborting', abort: { cause: 'signal-timeout' } })
  })

  it('No wait opens before the start of the saga, whatever this node learns', () => {
    const delayed = startSaga({
      branches: [{ id: 'approved', wait: { signal: 'approval', timeoutMs: 100 } }, PAY],
      delayMs: 900,
    })
    const fixture = RunFixture.accepted(delayed).tick()
    fixture.step({ type: 'command', command: { type: 'retry-asked' } })
    learn(fixture, commanded(delayed, signal('click-1')).row)
    expect(fixture.saga.branches[0]?.action.state).toBe('idle')
    expect(fixture.saga.signals).toMatchObject([{ id: 'click-1', payload: '{"by":"kim"}' }])
  })

  it('An opening that only this node knows stays as it is', () => {
    const opened = RunFixture.accepted(SAGA).tick()
    const { nextAt } = opened.saga.branches[0]?.action ?? {}
    opened.now = NODE_START + 50
    const grant = { ...GRANT, sentAt: opened.now, now: opened.now, storeNow: opened.storeNow }
    opened.step({ type: 'renewed', grant, version: 2 })
    opened.step({ type: 'reread', row: commanded(SAGA, { type: 'retry-asked' }).row })
    expect(opened.saga.branches[0]?.action).toMatchObject({ state: 'open', nextAt })
  })

  it('An end that was not stored is taken back with the signal that led to it', () => {
    const one = startSaga({
      branches: [
        { id: 'a', wait: { signal: 'a' } },
        { id: 'b', after: [], action: PAY.action },
      ],
    })
    const fixture = RunFixture.accepted(one).tick()
    const stored = fixture.saga
    fixture.step({ type: 'command', command: signal('mine', 'a') }).answer(1, 'action', 'success')
    expect(fixture.saga.status).toBe('succeeded')
    const { row } = commanded(stored, { type: 'retry-asked' })
    learn(fixture, row)
    expect(fixture.saga).toMatchObject({ status: 'submitted' } satisfies Partial<SagaTransaction>)
    expect(fixture.saga.branches[0]?.action.state).toBe('open')
    expect(fixture.saga.branches[1]?.action.state).toBe('succeeded')
  })

  it('An end that was not stored stands if all that led to it is stored', () => {
    const one = startSaga({
      branches: [
        { id: 'a', wait: { signal: 'a' } },
        { id: 'b', after: [], action: PAY.action },
      ],
    })
    const fixture = RunFixture.accepted(one).tick()
    fixture.step({ type: 'command', command: signal('mine', 'a') }).saved()
    const stored = fixture.saga
    fixture.answer(1, 'action', 'success')
    learn(fixture, commanded(stored, { type: 'retry-asked' }).row)
    expect(fixture.save).toMatchObject({ status: 'succeeded', hold: { type: 'finish' } })
  })

  it('An abort of this node that was not stored stands, and closes a wait that is open in the row', () => {
    const two = startSaga({
      branches: [
        { ...PAY, template: {}, after: [] },
        { id: 'w', after: [], wait: { signal: 'a' } },
      ],
    })
    const opened = RunFixture.accepted(two).tick().saga
    const fixture = RunFixture.accepted(two).tick().answer(0, 'action', 'failure')
    learn(fixture, commanded(opened, { type: 'retry-asked' }).row)
    expect(fixture.saga.status).toBe('aborting')
    expect(fixture.saga.branches[1]?.action).toMatchObject({ state: 'idle' })
    expect(fixture.saga.branches[1]?.action).not.toHaveProperty('nextAt')
  })

  it('A mark of no return that is not stored gives way to an abort that is', () => {
    const sure = startSaga({ branches: [{ id: 'pay', action: PAY.action, role: 'pivot' }] })
    const fixture = RunFixture.accepted(sure).tick()
    expect(fixture.saga.noReturnAt).toBeDefined()
    expect(fixture.calls).toEqual([])
    learn(fixture, commanded(sure, { type: 'abort-asked' }).row)
    expect(fixture.saga).toMatchObject({ status: 'aborting' })
    expect(fixture.saga).not.toHaveProperty('noReturnAt')
  })
})

describe('A signal that was kept until a wait opened', () => {
  it('No branch is called because of a kept signal before the row says which wait has taken it', () => {
    const branches = ['a', 'b'].flatMap((id) => [
      { id, after: [], action: PAY.action },
      { id: `${id}-approved`, after: [id], wait: { signal: 'approval' } },
      { id: `${id}-sent`, after: [`${id}-approved`], action: PAY.action },
    ])
    const fixture = RunFixture.accepted(startSaga({ branches }))
      .tick()
      .step({ type: 'command', command: signal('click-1') })
      .saved()
    expect(fixture.answer(0, 'action', 'success').types).toEqual(['save'])
    expect(fixture.run.durableTransaction).toMatchObject({ signals: [{ payload: '{"by":"kim"}' }] })
    expect(fixture.saved().calls).toEqual(['03 action #1'])
    expect(fixture.run.durableTransaction).toMatchObject({ signals: [{ takenBy: 1 }] })
  })
})
