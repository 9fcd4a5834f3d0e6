import { AssertionError, StoreUnavailableError } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { nameSubmitter } from '../src/name-submitter.ts'
import { heldAnswer, isRelease, lostBefore, refused } from './support/fault-store.ts'
import { Fixture } from './support/fixture.ts'
import { FunctionNode } from './support/function-node.ts'
import { Gate } from './support/gate.ts'
import type { Answer } from './support/participants.ts'
import { buildBranch, buildSaga, readCode, watched } from './support/sagas.ts'

const PLENTY_MS = 29_000
const LEASE_AFTER_MS = 5_000
const SLOW_RETRY = { retry: { initialMs: 4_000 } }

describe('an invocation that submits', () => {
  it('An invocation ends a saga with two writes, under a lease of its own time and 5 s, and requests no wake-up', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    const submitting = node.engine.during(PLENTY_MS, () =>
      node.engine.submit(buildSaga('a', 5), { waitMs: 20_000 }),
    )
    await fixture.time.flush()
    expect((await submitting).status).toBe('succeeded')
    expect(node.store.writes).toBe(2)
    expect(node.store.calls).toHaveLength(2)
    expect(node.store.calls[0]?.request).toMatchObject({
      hold: { type: 'owned', leaseMs: PLENTY_MS + LEASE_AFTER_MS },
    })
    expect(node.looks).toEqual([])
  })

  it('An invocation makes no call that its host refuses, and shows the reason', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api', {}, (_definition, url) =>
      url.endsWith('/02/action') ? 'old-words' : undefined,
    )
    const submitting = node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a')))
    await fixture.time.advance(PLENTY_MS)
    await submitting
    expect(fixture.services.listCalls('a')).toEqual(['01 action'])
    expect(
      (await node.engine.during(PLENTY_MS, () => node.engine.get('a' as Gid)))?.branches[1]?.ops[0],
    ).toMatchObject({
      result: 'unknown',
      error: 'old-words',
    })
  })

  it('A caller that does not wait is answered at once, and the invocation goes on until the saga is final', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    const first = fixture.services.defer('a', '01', 'action')
    const invoked = watched(node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a'))))
    await fixture.time.advance(2_000)
    expect(invoked.isSettled).toBe(false)
    first.answer('success')
    await fixture.time.flush()
    expect(invoked.value?.status).toBe('submitted')
    expect(await fixture.status('a')).toBe('succeeded')
  })

  it('A saga that does not fit is given back as due now with a wake-up, and another invocation ends it', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    fixture.services.otherwise = () => fixture.time.delay(5_000).then(() => 'success')
    const invoked = watched(node.engine.during(20_000, () => node.engine.submit(buildSaga('a', 5))))
    await fixture.time.advance(20_000)
    expect(invoked.isSettled).toBe(true)
    expect(node.looks).toEqual([{ gid: 'a', dueInMs: 0 }])
    expect(await fixture.row('a')).toMatchObject({ owned: false, status: 'submitted', sentList: 'released' })
    const worker = new FunctionNode(fixture, 'worker')
    const looked = watched(worker.look('a', 60_000))
    await fixture.time.advance(30_000)
    expect(looked.value).toBe('final')
    expect(fixture.services.listCalls('a')).toEqual(
      ['01', '02', '03', '04', '05'].map((id) => `${id} action`),
    )
  })

  it('A waiting caller is answered when its wait is over, whatever time is left', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    fixture.services.otherwise = () => fixture.time.delay(2_000).then(() => 'success')
    const invoked = watched(
      node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a', 5), { waitMs: 3_000 })),
    )
    await fixture.time.advance(4_100)
    expect(invoked.value?.status).toBe('submitted')
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action'])
    expect(node.looks).toEqual([{ gid: 'a', dueInMs: 0 }])
  })

  it('A call without an answer in time is unknown, and the saga is given back', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    fixture.services.defer('a', '01', 'action')
    const invoked = watched(
      node.engine.during(10_000, () => node.engine.submit(buildSaga('a', 1, { timeoutMs: 60_000 }))),
    )
    await fixture.time.advance(10_000)
    expect(invoked.isSettled).toBe(true)
    expect(await fixture.row('a')).toMatchObject({ owned: false, retrying: true })
    expect(fixture.services.calls).toHaveLength(1)
    expect(node.looks).toHaveLength(1)
  })

  it('An invocation refuses an acknowledgement from memory, and stores nothing', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    const submitting = node.engine.during(PLENTY_MS, () =>
      node.engine.submit(buildSaga('a', 1, { ack: 'memory' })),
    )
    expect(await readCode(submitting)).toBe('SAGA_ACK_INVALID')
    expect(await fixture.rows()).toBe(0)
  })

  it('S40: refuses a longer timeoutMs than its ceiling, and stores nothing', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api', { timeoutMsMax: 20_000 })
    const submitting = node.engine.during(PLENTY_MS, () =>
      node.engine.submit(buildSaga('a', 1, { timeoutMs: 20_001 })),
    )
    expect(await readCode(submitting)).toBe('SAGA_TIMEOUT_INVALID')
    expect(await fixture.rows()).toBe(0)
  })

  it('S40: runs at most its share of what one target has, gives the rest back and loses none of it', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'worker', { recoveryInFlightMax: 8, holdMs: 0 })
    const one = fixture.idleNode({ pollMs: 600_000 })
    fixture.services.otherwise = () => 'unknown'
    const gids = [...Array(10).keys()].map((n) => `g${n}`)
    for (const gid of gids) await one.submit(buildSaga(gid, 1, { retry: { initialMs: 1_500 } }))
    await fixture.time.advance(100)
    one.kill()
    await fixture.time.advance(20_000)
    const gate = new Gate()
    fixture.services.otherwise = async (): Promise<Answer> => {
      await gate.pass()
      return 'success'
    }
    const invoked = watched(node.engine.during(PLENTY_MS, (invocation) => invocation.runDue(10)))
    await fixture.time.advance(100)
    expect(fixture.services.inFlight).toBeLessThan(8)
    gate.open()
    await fixture.time.until('it has ended', () => invoked.isSettled)
    const rows = await Promise.all(gids.map((gid) => fixture.row(gid)))
    const left = rows.filter(({ status }) => status !== 'succeeded')
    expect(left.length).toBeGreaterThan(0)
    expect(left.every(({ owned, attention }) => !owned && !attention)).toBe(true)
    await fixture.time.advance(40_000)
    await node.engine.during(PLENTY_MS, (invocation) => invocation.runDue(10))
    for (const gid of gids) expect(await fixture.status(gid)).toBe('succeeded')
  })

  it('An invocation requests a wake-up for when a delayed saga is due', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    await node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a', 1, { delayMs: 90_000 })))
    expect(node.looks).toEqual([{ gid: 'a', dueInMs: 90_000 }])
    expect(fixture.services.calls).toEqual([])
  })

  it('S40: A wake-up names the submitter as its group, for a delayed start, for a retry, and where there was no room', async () => {
    const fixture = new Fixture()
    const api = new FunctionNode(fixture, 'api')
    const submit = (gid: string, caller: string, more: object = {}) =>
      api.engine.during(PLENTY_MS, () => api.engine.submit(buildSaga(gid, 1, more), { caller }))
    await submit('a', 'key a', { delayMs: 90_000 })
    fixture.services.script('b', '01', 'action', { result: 'unknown', retryAfterMs: 40_000 })
    await submit('b', 'key b')
    const groups = api.looks.map(({ group }) => group)
    expect(groups).toEqual([nameSubmitter('key a'), nameSubmitter('key b')])
    await fixture.time.advance(90_000)
    const worker = new FunctionNode(fixture, 'worker', { recoveryInFlightMax: 1, targetShare: 1 })
    fixture.services.otherwise = () => fixture.time.delay(5_000).then(() => 'success')
    const woken = watched(
      worker.engine.during(PLENTY_MS, (invocation) =>
        Promise.all([invocation.runClaimed('b' as Gid), invocation.runClaimed('a' as Gid, 'x1')]),
      ),
    )
    await fixture.time.advance(10_000)
    expect(woken.value).toEqual(['final', 'no-room'])
    expect(worker.looks).toEqual([{ gid: 'a', dueInMs: 0, isSlow: true, group: 'x1' }])
  })

  it('An invocation waits for a short back-off by itself, and hands a long one on', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api', {
      retry: { initialMs: 500, factor: 60, capMs: 60_000, jitter: 0, limit: null },
    })
    fixture.services.script('a', '01', 'action', 'unknown', 'unknown')
    const invoked = watched(node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a'))))
    await fixture.time.advance(1_000)
    expect(invoked.isSettled).toBe(true)
    expect(fixture.services.calls).toHaveLength(2)
    expect(node.looks).toEqual([{ gid: 'a', dueInMs: expect.closeTo(30_000, -2) }])
  })

  it('An abort of a saga that no node runs compensates it at once', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    fixture.services.script('a', '02', 'action', { result: 'unknown', retryAfterMs: 40_000 })
    await node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a')))
    expect(await fixture.row('a')).toMatchObject({ owned: false })
    const aborting = node.engine.during(PLENTY_MS, () => node.engine.abort('a' as Gid, { waitMs: 5_000 }))
    await fixture.time.advance(1_000)
    expect((await aborting).status).toBe('failed')
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
  })

  it('Sagas go on without the queue, because the sweeper finds due rows', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    node.isQueueDown = true
    fixture.services.script('a', '01', 'action', { result: 'ongoing', retryAfterMs: 40_000 })
    const view = await node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a')))
    expect(view.status).toBe('submitted')
    expect(node.seen.named('wake-up-failed')).toHaveLength(1)
  })

  it('An environment has one invocation at a time', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    fixture.services.defer('a', '01', 'action')
    void node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a')))
    await expect(node.engine.during(PLENTY_MS, async () => 1)).rejects.toBeInstanceOf(AssertionError)
  })
})

describe('after an invocation', () => {
  it('After an invocation there is no call, no store access and no timer that does anything', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    fixture.services.defer('a', '01', 'action')
    const invoked = watched(
      node.engine.during(10_000, () => node.engine.submit(buildSaga('a', 2), { waitMs: 25_000 })),
    )
    await fixture.time.advance(10_000)
    expect(invoked.isSettled).toBe(true)
    const [calls, stored, events] = [
      fixture.services.calls.length,
      node.store.calls.length,
      node.seen.events.length,
    ]
    await fixture.time.advance(3_600_000)
    expect(fixture.services.calls).toHaveLength(calls)
    expect(node.store.calls).toHaveLength(stored)
    expect(node.seen.events).toHaveLength(events)
  })

  it('After an invocation no create is sent, so that a purged transaction cannot run a second time', async () => {
    const fixture = new Fixture()
    const settings = { retentionMs: 60_000 }
    const zombie = new FunctionNode(fixture, 'api', settings)
    const lost = zombie.store.on('create', lostBefore, { times: Number.POSITIVE_INFINITY })
    const invoked = watched(zombie.engine.during(10_000, () => zombie.engine.submit(buildSaga('a'))))
    while (!invoked.isSettled) await fixture.time.advance(10)
    zombie.freeze()
    lost.remove()
    const other = new FunctionNode(fixture, 'api', settings)
    const again = watched(
      other.engine.during(PLENTY_MS, () => other.engine.submit(buildSaga('a'), { waitMs: 5_000 })),
    )
    await fixture.time.advance(1_000)
    expect(again.value?.status).toBe('succeeded')
    await fixture.time.advance(61_000)
    expect(await other.engine.during(PLENTY_MS, (invocation) => invocation.purge(100))).toBe(1)
    zombie.thaw()
    await fixture.time.advance(60_000)
    expect(await fixture.rows()).toBe(0)
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action'])
  })

  it('A command whose answer came late is left to the next invocation', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    fixture.services.script('a', '02', 'action', { result: 'unknown', retryAfterMs: 40_000 })
    await node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a')))
    const gate = new Gate()
    node.store.on('update', heldAnswer(gate))
    const abort = () => node.engine.abort('a' as Gid, { waitMs: 1_000 })
    const aborting = watched(node.engine.during(PLENTY_MS, abort))
    await fixture.time.advance(1_200)
    gate.open()
    await fixture.time.advance(5_000)
    expect(aborting.isSettled).toBe(true)
    expect(await fixture.row('a')).toMatchObject({ status: 'aborting', owned: false })
    const worker = new FunctionNode(fixture, 'worker')
    const looked = watched(worker.look('a', PLENTY_MS))
    await fixture.time.advance(1_000)
    expect(looked.value).toBe('final')
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
  })

  it('A doubled wake-up joins the run that waits for the answer to its give-back, and both have one outcome', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    fixture.services.script('a', '01', 'action', 'unknown', { result: 'unknown', retryAfterMs: 40_000 })
    await node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a', 1, SLOW_RETRY)))
    const worker = new FunctionNode(fixture, 'worker')
    const gate = new Gate()
    worker.store.on('update', heldAnswer(gate), { when: isRelease })
    const woken = watched(
      worker.engine.during(PLENTY_MS, async (invocation) => {
        const first = invocation.runClaimed('a' as Gid)
        await fixture.time.delay(1_000)
        expect([gate.waiting, await fixture.row('a')]).toMatchObject([1, { owned: false }])
        const second = invocation.runClaimed('a' as Gid)
        await fixture.time.delay(1_000)
        gate.open()
        return Promise.all([first, second])
      }),
    )
    await fixture.time.advance(PLENTY_MS)
    expect([woken.error, woken.value]).toEqual([undefined, ['given-back', 'given-back']])
    expect(worker.store.count('claim')).toBe(1)
  })

  it('A wake-up that comes after a run claims the transaction anew', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'api')
    fixture.services.script('a', '01', 'action', 'unknown')
    await node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a', 1, SLOW_RETRY)))
    const worker = new FunctionNode(fixture, 'worker')
    const woken = watched(
      worker.engine.during(PLENTY_MS, async (invocation) => {
        const early = await invocation.runClaimed('a' as Gid)
        await fixture.time.delay(5_000)
        return [early, await invocation.runClaimed('a' as Gid)]
      }),
    )
    await fixture.time.advance(PLENTY_MS)
    expect(woken.value).toEqual(['given-back', 'final'])
  })

  it('Work that goes on after its invocation is a failure', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'sweeper')
    const invoked = watched(node.engine.during(6_000, () => new Promise(() => undefined)))
    await fixture.time.advance(6_000)
    expect(invoked.error).toMatchObject({ message: 'the work has not ended with its invocation' })
    expect(await node.engine.during(6_000, async () => 'next')).toBe('next')
  })

  it('A store that hangs does not delay the end, and transactions are left to their leases', async () => {
    const fixture = new Fixture()
    const node = new FunctionNode(fixture, 'worker')
    const api = new FunctionNode(fixture, 'api')
    fixture.services.script('a', '01', 'action', { result: 'ongoing', retryAfterMs: 40_000 })
    await api.engine.during(PLENTY_MS, () => api.engine.submit(buildSaga('a')))
    fixture.services.script('a', '01', 'action', { result: 'ongoing', retryAfterMs: 40_000 })
    await fixture.time.advance(40_000)
    node.store.on('update', refused, { times: Number.POSITIVE_INFINITY })
    const looked = watched(node.look('a', 10_000))
    await fixture.time.advance(10_000)
    expect(looked.value).toBe('left')
    expect((await fixture.row('a')).owned).toBe(true)
    const other = new FunctionNode(fixture, 'worker')
    expect(await other.look('a', 10_000)).toBe('not-ours')
    await fixture.time.advance(LEASE_AFTER_MS)
    const again = watched(other.look('a', 10_000))
    await fixture.time.advance(1_000)
    expect(again.value).toBe('final')
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '02 action'])
  })

  it('An invocation that thaws after its lease changes nothing', async () => {
    const fixture = new Fixture()
    const zombie = new FunctionNode(fixture, 'api')
    const first = fixture.services.defer('a', '01', 'action')
    const invoked = watched(zombie.engine.during(10_000, () => zombie.engine.submit(buildSaga('a'))))
    await fixture.time.flush()
    zombie.freeze()
    first.answer('success')
    await fixture.time.advance(10_000 + LEASE_AFTER_MS + 1)
    const worker = new FunctionNode(fixture, 'worker')
    fixture.services.script('a', '02', 'action', 'failure')
    const looked = watched(worker.look('a', 30_000))
    await fixture.time.advance(1_000)
    expect(looked.value).toBe('final')
    const version = (await fixture.row('a')).version
    zombie.thaw()
    await fixture.time.advance(60_000)
    expect(invoked.isSettled).toBe(true)
    expect(await fixture.row('a')).toMatchObject({ status: 'failed', version })
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
  })
})

describe('a look at a gid', () => {
  it('A wake-up for a final, foreign or unknown transaction does nothing', async () => {
    const fixture = new Fixture()
    const api = new FunctionNode(fixture, 'api')
    const worker = new FunctionNode(fixture, 'worker')
    await api.engine.during(PLENTY_MS, () => api.engine.submit(buildSaga('a'), { waitMs: 1_000 }))
    expect(await worker.look('a', PLENTY_MS)).toBe('final')
    fixture.services.defer('b', '01', 'action')
    void api.engine.during(PLENTY_MS, () => api.engine.submit(buildSaga('b')))
    await fixture.time.flush()
    expect(await worker.look('b', PLENTY_MS)).toBe('not-ours')
    expect(await worker.look('never', PLENTY_MS)).toBe('not-ours')
    expect(worker.looks).toEqual([])
  })

  it('A wake-up that came too early gives the transaction back, and requests no other one', async () => {
    const fixture = new Fixture()
    const api = new FunctionNode(fixture, 'api')
    fixture.services.script('a', '01', 'action', { result: 'ongoing', retryAfterMs: 40_000 })
    await api.engine.during(PLENTY_MS, () => api.engine.submit(buildSaga('a')))
    const { dueAt } = await fixture.row('a')
    const worker = new FunctionNode(fixture, 'worker')
    expect(await worker.look('a', PLENTY_MS)).toBe('given-back')
    expect(worker.looks).toEqual([])
    expect(Math.abs((await fixture.row('a')).dueAt - dueAt)).toBeLessThan(5)
    expect(fixture.services.calls).toHaveLength(1)
  })

  it('A wake-up rejects when the claim is not answered', async () => {
    const fixture = new Fixture()
    const worker = new FunctionNode(fixture, 'worker')
    worker.store.on('claim', refused)
    await expect(worker.look('a', PLENTY_MS)).rejects.toBeInstanceOf(StoreUnavailableError)
  })

  it('Without a queue an invocation runs due rows, up to a limit', async () => {
    const fixture = new Fixture()
    const api = new FunctionNode(fixture, 'api')
    for (const gid of ['a', 'b', 'c']) {
      await api.engine.during(PLENTY_MS, () => api.engine.submit(buildSaga(gid, 1, { delayMs: 2_000 })))
    }
    await fixture.time.advance(2_000)
    const sweeper = new FunctionNode(fixture, 'sweeper')
    const first = await sweeper.engine.during(PLENTY_MS, (invocation) => invocation.runDue(2))
    expect(first).toEqual({ outcomes: ['final', 'final'], mayBeMore: true })
    const second = await sweeper.engine.during(PLENTY_MS, (invocation) => invocation.runDue(2))
    expect(second).toEqual({ outcomes: ['final'], mayBeMore: false })
    expect(await fixture.unfinished()).toBe(0)
  })

  it('S40: An invocation claims no more large rows than it has places for, and asks for the others anew, which lose nothing', async () => {
    const fixture = new Fixture()
    const gids = await buildLargeRows(fixture, 20)
    const gate = new Gate()
    fixture.services.otherwise = async (): Promise<Answer> => {
      await gate.pass()
      return 'success'
    }
    const worker = new FunctionNode(fixture, 'worker', { recoveryInFlightMax: 256, targetShare: 1 })
    const woken = watched(
      worker.engine.during(PLENTY_MS, (invocation) =>
        Promise.all(gids.map((gid) => invocation.runClaimed(gid))),
      ),
    )
    await fixture.time.advance(1_500)
    // Each of them takes 25 places, and one whose size is not known 32.
    const claimed = worker.store.count('claim')
    expect(claimed).toBeGreaterThan(4)
    expect(claimed).toBeLessThanOrEqual(256 / 25)
    const others = gids.slice(claimed)
    const asked = worker.looks.toSorted((a, b) => gids.indexOf(a.gid) - gids.indexOf(b.gid))
    expect(asked).toEqual(others.map((gid) => ({ gid, dueInMs: 0, isSlow: true })))
    for (const gid of others) expect(await fixture.row(gid)).toMatchObject({ epoch: 1, owned: false })
    gate.open()
    await fixture.time.advance(1_000)
    expect(woken.value).toEqual(gids.map((_, position) => (position < claimed ? 'final' : 'no-room')))
    const again = watched(
      worker.engine.during(PLENTY_MS, (invocation) =>
        Promise.all(others.map((gid) => invocation.runClaimed(gid))),
      ),
    )
    await fixture.time.advance(1_000)
    expect(again.value).toEqual(others.map(() => 'final'))
  })

  it('Where there was no room and the queue takes no new wake-up, the old one comes back', async () => {
    const fixture = new Fixture()
    const [gid, other] = await buildLargeRows(fixture, 2)
    fixture.services.otherwise = () => fixture.time.delay(5_000).then(() => 'success')
    const worker = new FunctionNode(fixture, 'worker', { recoveryInFlightMax: 1, targetShare: 1 })
    worker.isQueueDown = true
    const woken = watched(
      worker.engine.during(PLENTY_MS, (invocation) =>
        Promise.all([invocation.runClaimed(gid as Gid), invocation.runClaimed(other as Gid)]),
      ),
    )
    await fixture.time.advance(10_000)
    expect(woken.value).toEqual(['final', 'left'])
    worker.isQueueDown = false
    const again = watched(worker.look(other ?? '', PLENTY_MS))
    await fixture.time.advance(10_000)
    expect(again.value).toBe('final')
  })

  it.each([
    ['before its wake-ups are sent', 4_950, 'no-room'],
    ['after that', 5_200, 'left'],
  ] as const)(
    'What finds no room at the end of an invocation comes back unless its wake-up was sent: %s',
    async (_when, claimedAt, outcome) => {
      const fixture = new Fixture()
      const [gid, other] = (await buildLargeRows(fixture, 2)) as [Gid, Gid]
      fixture.services.otherwise = () => fixture.time.delay(20_000).then(() => 'success')
      const worker = new FunctionNode(fixture, 'worker', { recoveryInFlightMax: 1, targetShare: 1 })
      const invoked = watched(
        worker.engine.during(8_000, async (invocation) => {
          const running = invocation.runClaimed(gid)
          await fixture.time.delay(claimedAt)
          return await Promise.all([running, invocation.runClaimed(other)])
        }),
      )
      await fixture.time.advance(8_000)
      expect(invoked.value?.[1]).toBe(outcome)
      expect(worker.looks.some((look) => look.gid === other)).toBe(outcome === 'no-room')
    },
  )

  it('S40: Without a queue an invocation claims no more large due rows at once than it has places for', async () => {
    const fixture = new Fixture()
    const gids = await buildLargeRows(fixture, 20)
    fixture.services.otherwise = () => fixture.time.delay(500).then(() => 'success')
    const sweeper = new FunctionNode(fixture, 'sweeper', { recoveryInFlightMax: 256, targetShare: 1 })
    const due = watched(sweeper.engine.during(PLENTY_MS, (invocation) => invocation.runDue(100)))
    await fixture.time.advance(100)
    const owned = await Promise.all(gids.map(async (gid) => (await fixture.row(gid)).owned))
    const claimed = owned.filter(Boolean).length
    expect(claimed).toBeGreaterThan(4)
    expect(claimed).toBeLessThanOrEqual(256 / 25)
    await fixture.time.advance(20_000)
    expect(due.value).toEqual({ outcomes: gids.map(() => 'final'), mayBeMore: false })
  })
})

/** Stores sagas of 800 KB that are due. */
async function buildLargeRows(fixture: Fixture, count: number): Promise<readonly Gid[]> {
  const api = new FunctionNode(fixture, 'api')
  const gids = Array.from({ length: count }, (_, position) => `g${position}` as Gid)
  const branches = (gid: Gid) =>
    ['01', '02', '03', '04'].map((id) => buildBranch(gid, id, { payload: 'x'.repeat(200_000), after: [] }))
  for (const gid of gids)
    await api.engine.during(PLENTY_MS, () =>
      api.engine.submit({ gid, delayMs: 2_000, branches: branches(gid) }),
    )
  await fixture.time.advance(2_000)
  return gids
}
