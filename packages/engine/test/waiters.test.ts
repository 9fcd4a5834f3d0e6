import type { Gid, TransactionView } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { type Waiter, Waiters } from '../src/waiters.ts'
import { heldAnswer, heldBefore, isFinish, refused } from './support/fault-store.ts'
import { Fixture } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import { buildSaga, watched } from './support/sagas.ts'

describe('a submit that waits', () => {
  it('A wait for a saga that runs here is answered by its end, without reading the store', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const call = fixture.services.defer('a', '02', 'action')
    const waited = watched(node.submit(buildSaga('a'), { waitMs: 30_000 }))
    await fixture.time.advance(5_000)
    expect(waited.isSettled).toBe(false)
    call.answer('success')
    await fixture.time.flush()
    expect(waited.value?.status).toBe('succeeded')
    expect(node.store.count('read')).toBe(0)
  })

  it('S17: All callers that wait for one end get the same object, so that its JSON is written once', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const call = fixture.services.defer('a', '02', 'action')
    const [first, second] = [1, 2].map(() => watched(node.submit(buildSaga('a'), { waitMs: 30_000 })))
    await fixture.time.advance(5_000)
    call.answer('success')
    await fixture.time.flush()
    expect(first?.value?.status).toBe('succeeded')
    expect(second?.value).toBe(first?.value)
  })

  it('S17: A thousand callers that wait for one end are told by turns, so that others are served in between', async () => {
    const turns: (() => void)[] = []
    const after = (ms: number, run: () => void) => {
      if (ms === 0) turns.push(run)
      return () => undefined
    }
    const waiters = new Waiters(
      { now: () => 0, after },
      2_000,
      () => true,
      async () => [],
    )
    let told = 0
    for (let n = 0; n < 1_000; n++) void waiters.open('a' as Gid, 1_000).outcome.then(() => told++)
    waiters.settleFinished('a' as Gid, () => ({ gid: 'a' }) as TransactionView)
    await Promise.resolve()
    expect(told).toBeGreaterThan(0)
    expect(told).toBeLessThan(100)
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) turn()
    await Promise.resolve()
    expect(told).toBe(1_000)
  })

  it('S17: Callers that wait hold so much of their requests and no more, and short requests do not count', async () => {
    const waiters = new Waiters(
      { now: () => 0, after: () => () => undefined },
      10_000,
      () => true,
      async () => [],
    )
    const isOpen = async (characters: number) => {
      const waiter = waiters.open('a' as Gid, 60_000, false, characters)
      let isOpened = true
      void waiter.outcome.then(() => {
        isOpened = false
      })
      await new Promise(setImmediate)
      return { waiter, isOpen: isOpened }
    }
    const opened: { readonly waiter: Waiter; readonly isOpen: boolean }[] = []
    for (let n = 0; n < 50; n++) opened.push(await isOpen(1024 * 1024))
    expect(opened.filter((each) => each.isOpen)).toHaveLength(32)
    expect((await isOpen(8_000)).isOpen).toBe(true)
    opened[0]?.waiter.cancel()
    opened[0]?.waiter.cancel()
    expect((await isOpen(1024 * 1024)).isOpen).toBe(true)
    expect((await isOpen(1024 * 1024)).isOpen).toBe(false)
  })

  it('S17: A caller that is gone takes the place of no other that waits', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ waitersMax: 1 })
    fixture.services.defer('a', '02', 'action')
    const call = fixture.services.defer('b', '02', 'action')
    const gone = new AbortController()
    const first = watched(node.submit(buildSaga('a'), { waitMs: 30_000, gone: gone.signal }))
    await fixture.time.advance(1_000)
    expect(first.isSettled).toBe(false)
    gone.abort()
    await fixture.time.flush()
    expect(first.value?.status).toBe('submitted')
    const second = watched(node.submit(buildSaga('b'), { waitMs: 30_000 }))
    await fixture.time.advance(1_000)
    expect(second.isSettled).toBe(false)
    call.answer('success')
    await fixture.time.flush()
    expect(second.value?.status).toBe('succeeded')
  })

  it('A wait whose time is over is answered with the current state, and the saga goes on', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const call = fixture.services.defer('a', '02', 'action')
    const waited = watched(node.submit(buildSaga('a'), { waitMs: 2_000 }))
    await fixture.time.advance(1_999)
    expect(waited.isSettled).toBe(false)
    await fixture.time.advance(1)
    expect(waited.value?.status).toBe('submitted')
    expect(waited.value?.branches[0]?.ops[0]?.state).toBe('succeeded')
    call.answer('success')
    await fixture.untilStatus('a', 'succeeded')
  })

  it('Waits for sagas on another node share one batched read, less and less often', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    const calls = Array.from({ length: 600 }, (_, n) => fixture.services.defer(`s${n}`, '01', 'action'))
    const waited: { value?: TransactionView; isSettled: boolean }[] = []
    for (let n = 0; n < 600; n++) {
      await one.submit(buildSaga(`s${n}`, 1))
      waited.push(watched(two.submit(buildSaga(`s${n}`, 1), { waitMs: 30_000 })))
    }
    await fixture.time.flush()
    const before = two.store.count('read')
    await fixture.time.advance(10_000)
    // The reads come after 50, 100, 200, … ms and then each second, in two batches each.
    const rounds = (two.store.count('read') - before) / 2
    expect(rounds).toBeGreaterThanOrEqual(12)
    expect(rounds).toBeLessThanOrEqual(15)
    for (const call of calls) call.answer('success')
    await fixture.time.advance(1_100)
    expect(waited.filter(({ value }) => value?.status === 'succeeded')).toHaveLength(600)
    const after = two.store.count('read')
    await fixture.time.advance(10_000)
    expect(two.store.count('read')).toBe(after)
  })

  it('A new wait for a saga on another node is answered soon, however long others wait already', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    fixture.services.defer('old', '01', 'action')
    const call = fixture.services.defer('new', '01', 'action')
    for (const gid of ['old', 'new']) await one.submit(buildSaga(gid, 1))
    const old = watched(two.submit(buildSaga('old', 1), { waitMs: 30_000 }))
    await fixture.time.advance(10_020)
    const fresh = watched(two.submit(buildSaga('new', 1), { waitMs: 30_000 }))
    await fixture.time.flush()
    call.answer('success')
    await fixture.time.advance(60)
    expect(fresh.value?.status).toBe('succeeded')
    expect(old.isSettled).toBe(false)
  })

  it('S17: Few rows are read at once for those who wait, however many have ended', async () => {
    const fixture = new Fixture()
    const [runner, other] = [await fixture.node(), await fixture.node()]
    const gids = Array.from({ length: 40 }, (_, n) => `saga-${n}`)
    const calls = gids.map((gid) => fixture.services.defer(gid, '02', 'action'))
    for (const gid of gids) await runner.submit(buildSaga(gid))
    const waits = gids.map((gid) => watched(other.submit(buildSaga(gid), { waitMs: 30_000 })))
    await fixture.time.advance(3_000)
    const from = other.store.calls.length
    for (const call of calls) call.answer('success')
    await fixture.time.advance(2_000)
    expect(waits.map(({ value }) => value?.status)).toEqual(gids.map(() => 'succeeded'))
    const reads = other.store.calls.slice(from).filter(({ verb }) => verb === 'read')
    const counts = reads.map(({ request }) => (request as readonly unknown[]).length)
    // The first one asks which have ended, and reads no row.
    expect(counts).toEqual([40, 16, 16, 8])
  })

  it('An outage of the store does not fail a wait', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    const call = fixture.services.defer('a', '01', 'action')
    await one.submit(buildSaga('a'))
    const waited = watched(two.submit(buildSaga('a'), { waitMs: 30_000 }))
    await fixture.time.advance(200)
    const comeBack = two.store.goDown(refused)
    call.answer('success')
    await fixture.time.advance(5_000)
    expect(waited.isSettled).toBe(false)
    expect(two.seen.named('store-does-not-answer')).toHaveLength(1)
    comeBack()
    await fixture.time.advance(1_100)
    expect(waited.value?.status).toBe('succeeded')
  })

  it('An end that another node has reached is told only when it cannot be lost any more', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    const call = fixture.services.defer('a', '01', 'action')
    await one.submit(buildSaga('a'))
    const gate = new Gate()
    const waited = watched(two.submit(buildSaga('a'), { waitMs: 30_000 }))
    await fixture.time.advance(200)
    two.store.on('settle', heldBefore(gate), { times: Number.POSITIVE_INFINITY })
    call.answer('success')
    await fixture.time.advance(5_000)
    const late = watched(two.submit(buildSaga('a'), { waitMs: 30_000 }))
    await fixture.time.advance(100)
    expect([waited.isSettled, late.isSettled]).toEqual([false, false])
    gate.open()
    await fixture.time.advance(1_100)
    expect([waited.value?.status, late.value?.status]).toEqual(['succeeded', 'succeeded'])
  })

  it('An end is shown on every node only when it cannot be lost any more', async () => {
    const fixture = new Fixture()
    const nodes = [await fixture.node(), await fixture.node()]
    const call = fixture.services.defer('a', '02', 'action')
    await nodes[0]?.submit(buildSaga('a'))
    const gate = new Gate()
    for (const { store } of nodes) {
      store.on('update', heldAnswer(gate), { when: isFinish, times: Number.POSITIVE_INFINITY })
      store.on('settle', heldBefore(gate), { times: Number.POSITIVE_INFINITY })
    }
    for (const node of nodes) expect((await node.get('a'))?.status).toBe('submitted')
    call.answer('success')
    await fixture.time.until('the end is in the store', () => gate.waiting > 0)
    expect((await fixture.row('a')).status).toBe('succeeded')
    const looks = nodes.map((node) => watched(node.engine.show('a' as Gid)))
    await fixture.time.advance(100)
    expect(looks.map(({ isSettled }) => isSettled)).toEqual([false, false])
    gate.open()
    await fixture.time.advance(1_000)
    expect(looks.map(({ value }) => value?.status)).toEqual(['succeeded', 'succeeded'])
  })

  it('A wait whose time is over, and a look at all of it, show an undo only when that cannot be lost any more', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const undo = fixture.services.defer('a', '01', 'compensate')
    fixture.services.script('a', '02', 'action', 'failure')
    const gate = new Gate()
    node.store.on('settle', heldBefore(gate), { times: Number.POSITIVE_INFINITY })
    const waited = watched(node.submit(buildSaga('a'), { waitMs: 1_000 }))
    await fixture.time.until('it is undone', () => fixture.services.listCalls('a').includes('01 compensate'))
    const reads = [watched(node.engine.read('a' as Gid)), watched(node.engine.showWhole('a' as Gid))]
    await fixture.time.advance(1_100)
    expect([waited, ...reads].map(({ isSettled }) => isSettled)).toEqual([false, false, false])
    gate.open()
    await fixture.time.flush()
    expect(waited.value?.status).toBe('aborting')
    expect(reads.map(({ isSettled }) => isSettled)).toEqual([true, true])
    undo.answer('success')
    await fixture.untilStatus('a', 'failed')
  })

  it('A wait for a saga that waits for its start is answered by its end', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const waited = watched(node.submit(buildSaga('a', 2, { delayMs: 5_000 }), { waitMs: 30_000 }))
    await fixture.time.advance(4_900)
    expect(waited.isSettled).toBe(false)
    await fixture.time.advance(200)
    expect(waited.value?.status).toBe('succeeded')
  })

  it('A wait until idle is answered when the next retry or the start is due after its time, and not before', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    for (const gid of ['late', 'soon']) fixture.services.script(gid, '01', 'action', 'unknown')
    const wait = { waitMs: 8_000, untilIdle: true }
    const retry = { initialMs: 10_000, factor: 1, capMs: 10_000, jitter: 0 }
    const late = watched(node.submit(buildSaga('late', 1, { retry }), wait))
    const patient = watched(node.submit(buildSaga('late', 1, { retry }), { waitMs: 30_000 }))
    const soon = watched(node.submit(buildSaga('soon', 1, { retry: { ...retry, initialMs: 5_000 } }), wait))
    const delayed = watched(node.submit(buildSaga('delayed', 1, { delayMs: 5_000_000 }), wait))
    const started = watched(node.submit(buildSaga('started', 1, { delayMs: 5_000 }), wait))
    await fixture.time.advance(100)
    expect([late.value?.status, late.value?.branches[0]?.ops[0]?.state]).toEqual(['submitted', 'waiting'])
    expect(delayed.value?.status).toBe('submitted')
    expect([patient, soon, started].map(({ isSettled }) => isSettled)).toEqual([false, false, false])
    await fixture.time.advance(5_000)
    expect([soon, started].map(({ value }) => value?.status)).toEqual(['succeeded', 'succeeded'])
    await fixture.time.advance(5_000)
    expect(patient.value?.status).toBe('succeeded')
  })

  it('A wait for a saga that another node takes over is answered by its end there', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node({ leaseMs: 3_000 }), fixture.idleNode({ leaseMs: 3_000 })]
    const call = fixture.services.defer('a', '01', 'action')
    const waited = watched(one.submit(buildSaga('a'), { waitMs: 60_000 }))
    await fixture.time.flush()
    const comeBack = one.store.goDown(refused)
    await fixture.time.advance(3_000)
    await two.engine.start()
    await fixture.untilStatus('a', 'succeeded')
    call.answer('success')
    comeBack()
    await fixture.time.advance(5_000)
    expect(waited.value?.status).toBe('succeeded')
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '02 action'])
  })

  it('A wait beyond waitersMax is answered at once with the current state', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ waitersMax: 2 })
    const calls = ['a', 'b', 'c'].map((gid) => fixture.services.defer(gid, '01', 'action'))
    const waited = ['a', 'b', 'c'].map((gid) => watched(node.submit(buildSaga(gid), { waitMs: 30_000 })))
    await fixture.time.flush()
    expect(waited.map(({ value }) => value?.status)).toEqual([undefined, undefined, 'submitted'])
    for (const call of calls) call.answer('success')
    await fixture.time.flush()
    expect(waited.map(({ value }) => value?.status)).toEqual(['succeeded', 'succeeded', 'submitted'])
    // There is room again.
    expect((await node.submit(buildSaga('d'), { waitMs: 1_000 })).status).toBe('succeeded')
  })

  it('A refused submit leaves no waiter behind', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ waitersMax: 1 })
    for (let n = 0; n < 5; n++) {
      node.store.on('create', refused)
      const refusal = node.submit(buildSaga(`s${n}`), { waitMs: 30_000 })
      await expect(refusal).rejects.toMatchObject({ code: 'SAGA_NOT_ACCEPTED' })
    }
    expect((await node.submit(buildSaga('a'), { waitMs: 1_000 })).status).toBe('succeeded')
    await fixture.time.advance(10_000)
    // Only the timers of the loops are left: poll, renewal, purge and the look for bulk jobs.
    expect(node.clock.timers).toBe(4)
  })
})
