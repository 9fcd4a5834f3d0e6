import { describe, expect, it } from 'vitest'
import { heldAnswer, isFinish, lostAfter, refused } from './support/fault-store.ts'
import { Fixture } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import { buildSaga, watched } from './support/sagas.ts'

const LEASE = { leaseMs: 9_000, pollMs: 1_000 }

describe('the lease', () => {
  it('Leases are renewed each third of a lease, in one batch', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(LEASE)
    for (const gid of ['a', 'b', 'c']) {
      fixture.services.defer(gid, '01', 'action')
      await node.submit(buildSaga(gid))
    }
    await fixture.time.advance(30_000)
    const renewals = node.store.calls.filter(({ verb }) => verb === 'renew')
    expect(renewals.length).toBeGreaterThanOrEqual(9)
    for (const { request } of renewals) expect(request).toHaveLength(3)
    expect((await fixture.row('a')).dueAt).toBeGreaterThan(fixture.time.now + LEASE.leaseMs / 2)
    expect((await fixture.row('a')).epoch).toBe(1)
  })

  it('A lease is renewed even if another batch fails', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(LEASE)
    for (let n = 0; n < 600; n++) {
      fixture.services.defer(`s${n}`, '01', 'action')
      await node.submit(buildSaga(`s${n}`, 1))
    }
    const isFirst = (leases: readonly { readonly gid: string }[]) => leases.some(({ gid }) => gid === 's0')
    node.store.on('renew', refused, { times: 2, when: isFirst })
    await fixture.time.advance(7_000)
    expect((await fixture.row('s599')).dueAt).toBeGreaterThan(fixture.time.now + LEASE.leaseMs / 2)
    expect(node.seen.named('store-does-not-answer')).toHaveLength(2)
  })

  it('The lease of a saga that ends soon is not renewed', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(LEASE)
    await node.submit(buildSaga('a'), { waitMs: 100 })
    await fixture.time.advance(30_000)
    expect(node.store.count('renew')).toBe(0)
  })

  it('No call starts after the lease has run out during an outage, and the saga goes on after it', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(LEASE)
    const first = fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a', 3))
    const comeBack = node.store.goDown(refused)
    await fixture.time.advance(LEASE.leaseMs)
    first.answer('success')
    await fixture.time.advance(30_000)
    expect(fixture.services.listCalls('a')).toEqual(['01 action'])
    comeBack()
    await fixture.untilStatus('a', 'succeeded')
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '02 action', '03 action'])
  })

  it('Calls start until the end of the lease during an outage', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ ...LEASE, checkpointMs: 60_000 })
    const calls = ['01', '02'].map((id) => fixture.services.defer('a', id, 'action'))
    await node.submit(buildSaga('a', 3))
    const comeBack = node.store.goDown(refused)
    await fixture.time.advance(LEASE.leaseMs - 1)
    calls[0]?.answer('success')
    await fixture.time.flush()
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action'])
    await fixture.time.advance(1)
    calls[1]?.answer('success')
    await fixture.time.flush()
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action'])
    comeBack()
    await fixture.untilStatus('a', 'succeeded')
  })

  it('A lease counts from when the create was first sent, though its answer came late', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(LEASE), fixture.idleNode(LEASE)]
    one.store.on('create', lostAfter)
    const takeBack = one.store.goDown(refused)
    await fixture.time.flush()
    const submitted = watched(one.submit(buildSaga('a', 3)))
    await fixture.time.advance(LEASE.leaseMs)
    const takenAt = fixture.time.now
    await two.engine.start()
    takeBack()
    await fixture.untilStatus('a', 'succeeded')
    expect(submitted.isSettled).toBe(true)
    const late = fixture.services.calls.filter(({ node, at }) => node === one.name && at >= takenAt)
    expect(late).toEqual([])
  })

  it('The lease is checked when a call that waited for its turn starts', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ ...LEASE, callsInFlightMax: 1 })
    const blocking = fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a', 1))
    await node.submit(buildSaga('b', 1))
    const comeBack = node.store.goDown(refused)
    await fixture.time.advance(LEASE.leaseMs)
    blocking.answer('success')
    await fixture.time.advance(1_000)
    expect(fixture.services.listCalls('b')).toEqual([])
    comeBack()
    await fixture.untilStatus('b', 'succeeded')
    expect(fixture.services.listCalls('b')).toEqual(['01 action'])
  })
})

describe('a call that could not be sent', () => {
  it('A call that was not sent because the lease had run out does not count against the retry limit', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ leaseMs: 9_000, pollMs: 600_000, callsInFlightMax: 1 })
    const blocking = fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a', 1))
    await node.submit(buildSaga('b', 1, { retry: { limit: 1 } }))
    const comeBack = node.store.goDown(refused)
    await fixture.time.advance(9_000)
    blocking.answer('success')
    await fixture.time.advance(1_000)
    comeBack()
    await fixture.untilStatus('b', 'succeeded')
    expect(fixture.services.listCalls('b')).toEqual(['01 action'])
  })
})

describe('an outage longer than the lease', () => {
  it('After an outage a node renews its own runs before it claims any row', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ leaseMs: 3_000, pollMs: 500 })
    const call = fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const comeBack = node.store.goDown(refused)
    await fixture.time.advance(4_000)
    comeBack()
    await fixture.time.advance(1_500)
    call.answer('success')
    await fixture.untilStatus('a', 'succeeded', 10)
    expect((await fixture.row('a')).epoch).toBe(1)
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action'])
  })

  it('An outage and a deadline that passes meanwhile do not block the event loop', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ leaseMs: 3_000, pollMs: 500 })
    const call = fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a', 2, { deadlineMs: 1_000 }))
    const comeBack = node.store.goDown(refused)
    call.answer('unknown')
    await fixture.time.advance(5_000)
    comeBack()
    await fixture.untilStatus('a', 'failed')
    expect((await node.get('a'))?.abort?.cause).toBe('deadline')
  })
})

describe('a node that is frozen', () => {
  it('A frozen node loses its sagas to another one within the lease and a poll', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(LEASE), await fixture.node({ ...LEASE, clockOriginAt: 12_345 })]
    for (const gid of ['a', 'b']) {
      fixture.services.defer(gid, '02', 'action')
      await one.submit(buildSaga(gid, 3))
    }
    await fixture.time.advance(4_000)
    one.freeze()
    const frozenAt = fixture.time.now
    await fixture.untilStatus('a', 'succeeded')
    await fixture.untilStatus('b', 'succeeded')
    expect(fixture.time.now - frozenAt).toBeLessThanOrEqual(LEASE.leaseMs + LEASE.pollMs + 1_000)
    expect(two.seen.claims).toEqual([2])
    expect((await fixture.row('a')).epoch).toBe(2)
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '02 action', '03 action'])
  })

  it('A node that thaws finds its late save fenced, drops the saga and starts nothing', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(LEASE), await fixture.node(LEASE)]
    const late = fixture.services.defer('a', '01', 'action')
    await one.submit(buildSaga('a'))
    one.freeze()
    // The other branch is called, and the service fails it.
    fixture.services.script('a', '01', 'action', 'failure')
    late.answer('failure')
    await fixture.untilStatus('a', 'failed')
    const before = await fixture.row('a')
    const calls = fixture.services.calls.length
    one.thaw()
    await fixture.time.advance(20_000)
    expect(await fixture.row('a')).toEqual(before)
    expect(fixture.services.calls).toHaveLength(calls)
    expect(one.seen.events.map(({ name }) => name)).toContain('transaction-lost')
    expect(one.engine.health().inFlight).toBe(0)
    expect((await one.get('a'))?.status).toBe('failed')
    expect(two.seen.finishes).toEqual(['failed'])
  })

  it('A node that thaws sends no compensation if its abort was not stored', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(LEASE), await fixture.node(LEASE)]
    const gate = new Gate()
    const answer = fixture.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a'))
    one.store.on('update', async (apply) => {
      await gate.pass()
      return apply()
    })
    answer.answer('failure')
    await fixture.time.flush()
    one.freeze()
    await fixture.untilStatus('a', 'succeeded')
    gate.open()
    one.thaw()
    await fixture.time.advance(20_000)
    expect(one.seen.named('save-fenced')).toHaveLength(1)
    expect(fixture.services.listCalls('a').filter((call) => call.endsWith('compensate'))).toEqual([])
    expect(await fixture.status('a')).toBe('succeeded')
    expect(two.seen.finishes).toEqual(['succeeded'])
  })

  it('A node that thaws within its lease goes on as before', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(LEASE), await fixture.node(LEASE)]
    await one.submit(buildSaga('a', 1, { delayMs: 900 }))
    one.freeze()
    await fixture.time.advance(LEASE.leaseMs - 10)
    one.thaw()
    await fixture.untilStatus('a', 'succeeded')
    expect(two.seen.claims).toEqual([])
    expect(fixture.services.calls.map(({ node }) => node)).toEqual(['node-1'])
  })

  it('A node that was frozen during its finish reports the end once, when it is known', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(LEASE), await fixture.node(LEASE)]
    const gate = new Gate()
    one.store.on('update', heldAnswer(gate), { when: isFinish })
    const waited = watched(one.submit(buildSaga('a'), { waitMs: 60_000 }))
    await fixture.untilStatus('a', 'succeeded')
    one.freeze()
    await fixture.time.advance(20_000)
    expect([waited.isSettled, two.seen.claims.length]).toEqual([false, 0])
    one.thaw()
    gate.open()
    await fixture.time.flush()
    expect(waited.value?.status).toBe('succeeded')
    expect(one.seen.finishes).toEqual(['succeeded'])
  })
})

describe('two nodes that change places again and again', () => {
  it('Two nodes that change places again and again finish every saga with each effect once', async () => {
    const fixture = new Fixture()
    const nodes = [await fixture.node(LEASE), await fixture.node(LEASE)]
    fixture.services.otherwise = async ({ gid, branchId, op }) => {
      await fixture.time.delay(700)
      return op === 'action' && branchId === '03' && gid.endsWith('5') ? 'failure' : 'success'
    }
    for (let n = 0; n < 40; n++) await nodes[n % 2]?.submit(buildSaga(`s${n}`, 4))
    for (let round = 0; round < 6; round++) {
      const node = nodes[round % 2]
      node?.freeze()
      await fixture.time.advance(11_000)
      node?.thaw()
      await fixture.time.advance(500)
    }
    await fixture.time.until('all are final', async () => (await fixture.unfinished()) === 0)
    for (let n = 0; n < 40; n++) {
      const gid = `s${n}`
      const effects = fixture.services.listEffects(gid)
      expect(new Set(effects).size).toBe(effects.length)
      if (gid.endsWith('5')) {
        expect(await fixture.status(gid)).toBe('failed')
        expect(effects).toEqual(['01 action', '02 action', '02 compensate', '01 compensate'])
      } else {
        expect(await fixture.status(gid)).toBe('succeeded')
        expect(effects).toEqual(['01 action', '02 action', '03 action', '04 action'])
      }
    }
  })
})
