import type { Gid, SagaSubmitRequest } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { Fixture } from './support/fixture.ts'
import { FunctionNode } from './support/function-node.ts'
import { buildBranch, readCode, watched } from './support/sagas.ts'

const DAY_MS = 24 * 3_600_000
const GID = 'a' as Gid
const SLOW_POLL = { pollMs: 60_000, leaseMs: 600_000 }

function waiting(wait: object, more: Partial<SagaSubmitRequest> = {}): object {
  return {
    gid: 'a',
    branches: [buildBranch('a', '01'), { id: 'w', wait }, buildBranch('a', '03')],
    ...more,
  }
}

const APPROVAL = waiting({ signal: 'approval', timeoutMs: DAY_MS })

describe('A timer', () => {
  it('A long timer costs one release, a row without an owner and one claim', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(SLOW_POLL)
    await node.submit(waiting({ ms: DAY_MS }))
    await fixture.time.flush()
    expect(node.store.updates.map(({ hold }) => hold.type)).toEqual(['release'])
    expect(await fixture.row('a')).toMatchObject({
      owned: false,
      format: 4,
      retrying: false,
      dueAt: fixture.time.now + DAY_MS,
    })
    expect(node.engine.health().inFlight).toBe(0)
    await fixture.time.advance(DAY_MS - 1)
    expect(fixture.services.listCalls('a')).toEqual(['01 action'])
    await fixture.time.advance(2)
    expect(await fixture.status('a')).toBe('succeeded')
    expect(node.store.count('update')).toBe(2)
  })

  it('A short timer is waited for in memory and costs no write', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(SLOW_POLL)
    await node.submit(waiting({ ms: 700 }))
    await fixture.time.advance(701)
    expect(await fixture.status('a')).toBe('succeeded')
    expect(node.store.count('update')).toBe(1)
  })

  it('A retry does not end a timer', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(SLOW_POLL)
    await node.submit(waiting({ ms: DAY_MS }))
    await fixture.time.flush()
    await node.command('retry', 'a')
    await fixture.time.advance(60_000)
    expect(fixture.services.listCalls('a')).toEqual(['01 action'])
  })
})

describe('A signal', () => {
  it('A signal to any node ends the wait, and the row is claimed at once', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(SLOW_POLL), await fixture.node(SLOW_POLL)]
    await one.submit(APPROVAL)
    await fixture.time.flush()
    const taken = await two.engine.signal(GID, 'approval', { id: 'click-1' })
    expect(taken).toEqual({ gid: 'a', name: 'approval', id: 'click-1', state: 'taken' })
    await fixture.time.advance(10)
    expect(await fixture.status('a')).toBe('succeeded')
    expect(await two.engine.signal(GID, 'approval', { id: 'click-1' })).toEqual(taken)
  })

  it('A signal that comes early is kept, and taken when the wait opens', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(SLOW_POLL)
    const first = fixture.services.defer('a', '01', 'action')
    await node.submit(APPROVAL)
    expect(await node.engine.signal(GID, 'approval', { id: 'click-1' })).toMatchObject({ state: 'kept' })
    first.answer('success')
    await fixture.time.advance(10)
    expect(await fixture.status('a')).toBe('succeeded')
  })

  it('A signal to another node than the one that runs the saga is learned of within a third of a lease', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node({ holdMs: 60_000 }), await fixture.node({ holdMs: 60_000 })]
    await one.submit(waiting({ signal: 'approval', timeoutMs: 50_000 }))
    await fixture.time.advance(2_000)
    expect((await fixture.row('a')).owned).toBe(true)
    expect((await two.engine.signal(GID, 'approval', { id: '1' })).state).toMatch(/taken|kept/)
    await fixture.untilStatus('a', 'succeeded', 4_000)
  })

  it('Of two signals with one id one counts, and another payload is refused', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    const first = fixture.services.defer('a', '01', 'action')
    await one.submit(APPROVAL)
    await fixture.time.flush()
    const give = (node: typeof one, payload?: string) =>
      node.engine.signal(GID, 'approval', { id: '1', ...(payload === undefined ? {} : { payload }) })
    await Promise.all([give(one), give(two), give(one)])
    expect((await two.get('a'))?.signals).toEqual([{ name: 'approval', id: '1', state: 'kept' }])
    expect(await readCode(give(two, 'other'))).toBe('SAGA_SIGNAL_CONFLICT')
    expect(await readCode(two.engine.signal(GID, 'other', { id: '2' }))).toBe('SAGA_SIGNAL_UNKNOWN')
    expect(await readCode(two.engine.signal(GID, 'approval', {}))).toBe('SAGA_SIGNAL_INVALID')
    expect(await readCode(two.engine.signal('b' as Gid, 'approval', { id: '2' }))).toBe('SAGA_UNKNOWN_GID')
    first.answer('success')
    await fixture.untilStatus('a', 'succeeded')
  })

  it('A signal that does not come turns the saga around, and comes too late after that', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(SLOW_POLL)
    await node.submit(waiting({ signal: 'approval', timeoutMs: 5_000 }))
    const undo = fixture.services.defer('a', '01', 'compensate')
    await fixture.untilStatus('a', 'aborting', 6_000)
    expect(await readCode(node.engine.signal(GID, 'approval', { id: '1' }))).toBe('SAGA_TURNED_AROUND')
    undo.answer('success')
    await fixture.untilStatus('a', 'failed')
    expect((await node.get('a'))?.abort).toMatchObject({ cause: 'signal-timeout', branchId: 'w' })
    expect(await readCode(node.engine.signal(GID, 'approval', { id: '1' }))).toBe('SAGA_ALREADY_FINAL')
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '01 compensate'])
  })

  it('On Lambda the invocation that takes the signal goes on with the saga', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    const submitting = watched(node.engine.during(29_000, () => node.engine.submit(APPROVAL)))
    await fixture.time.advance(2_000)
    expect(submitting.isSettled).toBe(true)
    const other = new FunctionNode(fixture, 'api')
    const signalling = watched(
      other.engine.during(29_000, () => other.engine.signal(GID, 'approval', { id: '1' })),
    )
    await fixture.time.advance(2_000)
    expect(signalling.value).toMatchObject({ state: 'taken' })
    expect(await fixture.status('a')).toBe('succeeded')
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '03 action'])
  })
})

describe('A pivot', () => {
  it('An abort is refused once the pivot may have been called, and a restart keeps that', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const pivot = fixture.services.defer('a', '02', 'action')
    const branches = [
      buildBranch('a', '01'),
      { id: '02', action: 'http://bank.test/a/02/action', role: 'pivot' },
      { id: '03', action: 'http://bank.test/a/03/action', role: 'retriable' },
    ]
    await node.submit({ gid: 'a', branches, deadlineMs: 20_000 })
    await fixture.time.flush()
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action'])
    expect(await readCode(node.command('abort', 'a'))).toBe('SAGA_NO_RETURN')
    expect((await node.get('a'))?.noReturnAt).toBeDefined()
    node.kill()
    const next = await fixture.node()
    fixture.services.script('a', '02', 'action', 'unknown', 'success')
    // The deadline passes while the dead node's lease runs out.
    await fixture.untilStatus('a', 'succeeded', 60_000)
    expect(await readCode(next.command('abort', 'a'))).toBe('SAGA_ALREADY_FINAL')
    expect(fixture.services.listCalls('a').filter((call) => call.endsWith('compensate'))).toEqual([])
    pivot.answer('success')
  })
})
