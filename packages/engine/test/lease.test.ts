import { describe, expect, it } from 'vitest'
import { Bed } from './support/bed.ts'
import { heldAnswer, isFinish, lostAfter, refused } from './support/fault-store.ts'
import { Gate } from './support/gate.ts'
import { buildSaga, watched } from './support/sagas.ts'

const LEASE = { leaseMs: 9_000, pollMs: 1_000 }

describe('the lease', () => {
  it('Leases are renewed each third of a lease, in one batch', async () => {
    const bed = new Bed()
    const node = await bed.node(LEASE)
    for (const gid of ['a', 'b', 'c']) {
      bed.services.defer(gid, '01', 'action')
      await node.submit(buildSaga(gid))
    }
    await bed.time.advance(30_000)
    const renewals = node.store.calls.filter(({ verb }) => verb === 'renew')
    expect(renewals.length).toBeGreaterThanOrEqual(9)
    for (const { request } of renewals) expect(request).toHaveLength(3)
    expect((await bed.row('a')).dueAt).toBeGreaterThan(bed.time.now + LEASE.leaseMs / 2)
    expect((await bed.row('a')).epoch).toBe(1)
  })

  it('A lease is renewed even if another batch fails', async () => {
    const bed = new Bed()
    const node = await bed.node(LEASE)
    for (let n = 0; n < 600; n++) {
      bed.services.defer(`s${n}`, '01', 'action')
      await node.submit(buildSaga(`s${n}`, 1))
    }
    const isFirst = (leases: readonly { readonly gid: string }[]) => leases.some(({ gid }) => gid === 's0')
    node.store.on('renew', refused, { times: 2, when: isFirst })
    await bed.time.advance(7_000)
    expect((await bed.row('s599')).dueAt).toBeGreaterThan(bed.time.now + LEASE.leaseMs / 2)
    expect(node.seen.named('store-does-not-answer')).toHaveLength(2)
  })

  it('The lease of a saga that ends soon is not renewed', async () => {
    const bed = new Bed()
    const node = await bed.node(LEASE)
    await node.submit(buildSaga('a'), { waitMs: 100 })
    await bed.time.advance(30_000)
    expect(node.store.count('renew')).toBe(0)
  })

  it('No call starts after the lease has run out during an outage, and the saga goes on after it', async () => {
    const bed = new Bed()
    const node = await bed.node(LEASE)
    const first = bed.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a', 3))
    const comeBack = node.store.goDown(refused)
    await bed.time.advance(LEASE.leaseMs)
    first.answer('success')
    await bed.time.advance(30_000)
    expect(bed.services.listCalls('a')).toEqual(['01 action'])
    comeBack()
    await bed.untilStatus('a', 'succeeded')
    expect(bed.services.listEffects('a')).toEqual(['01 action', '02 action', '03 action'])
  })

  it('Calls start until the end of the lease during an outage', async () => {
    const bed = new Bed()
    const node = await bed.node({ ...LEASE, checkpointMs: 60_000 })
    const calls = ['01', '02'].map((id) => bed.services.defer('a', id, 'action'))
    await node.submit(buildSaga('a', 3))
    const comeBack = node.store.goDown(refused)
    await bed.time.advance(LEASE.leaseMs - 1)
    calls[0]?.answer('success')
    await bed.time.flush()
    expect(bed.services.listCalls('a')).toEqual(['01 action', '02 action'])
    await bed.time.advance(1)
    calls[1]?.answer('success')
    await bed.time.flush()
    expect(bed.services.listCalls('a')).toEqual(['01 action', '02 action'])
    comeBack()
    await bed.untilStatus('a', 'succeeded')
  })

  it('A lease counts from when the create was first sent, though its answer came late', async () => {
    const bed = new Bed()
    const [one, two] = [await bed.node(LEASE), bed.idleNode(LEASE)]
    one.store.on('create', lostAfter)
    const takeBack = one.store.goDown(refused)
    await bed.time.flush()
    const submitted = watched(one.submit(buildSaga('a', 3)))
    await bed.time.advance(LEASE.leaseMs)
    const takenAt = bed.time.now
    await two.engine.start()
    takeBack()
    await bed.untilStatus('a', 'succeeded')
    expect(submitted.isSettled).toBe(true)
    const late = bed.services.calls.filter(({ node, at }) => node === one.name && at >= takenAt)
    expect(late).toEqual([])
  })

  it('The lease is checked when a call that waited for its turn starts', async () => {
    const bed = new Bed()
    const node = await bed.node({ ...LEASE, callsInFlightMax: 1 })
    const blocking = bed.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a', 1))
    await node.submit(buildSaga('b', 1))
    const comeBack = node.store.goDown(refused)
    await bed.time.advance(LEASE.leaseMs)
    blocking.answer('success')
    await bed.time.advance(1_000)
    expect(bed.services.listCalls('b')).toEqual([])
    comeBack()
    await bed.untilStatus('b', 'succeeded')
    expect(bed.services.listCalls('b')).toEqual(['01 action'])
  })
})

describe('a call that could not be sent', () => {
  it('A call that was not sent because the lease had run out does not count against the retry limit', async () => {
    const bed = new Bed()
    const node = await bed.node({ leaseMs: 9_000, pollMs: 600_000, callsInFlightMax: 1 })
    const blocking = bed.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a', 1))
    await node.submit(buildSaga('b', 1, { retry: { limit: 1 } }))
    const comeBack = node.store.goDown(refused)
    await bed.time.advance(9_000)
    blocking.answer('success')
    await bed.time.advance(1_000)
    comeBack()
    await bed.untilStatus('b', 'succeeded')
    expect(bed.services.listCalls('b')).toEqual(['01 action'])
  })
})

describe('an outage longer than the lease', () => {
  it('After an outage a node renews its own runs before it claims any row', async () => {
    const bed = new Bed()
    const node = await bed.node({ leaseMs: 3_000, pollMs: 500 })
    const call = bed.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const comeBack = node.store.goDown(refused)
    await bed.time.advance(4_000)
    comeBack()
    await bed.time.advance(1_500)
    call.answer('success')
    await bed.untilStatus('a', 'succeeded', 10)
    expect((await bed.row('a')).epoch).toBe(1)
    expect(bed.services.listCalls('a')).toEqual(['01 action', '02 action'])
  })

  it('An outage and a deadline that passes meanwhile do not block the event loop', async () => {
    const bed = new Bed()
    const node = await bed.node({ leaseMs: 3_000, pollMs: 500 })
    const call = bed.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a', 2, { deadlineMs: 1_000 }))
    const comeBack = node.store.goDown(refused)
    call.answer('unknown')
    await bed.time.advance(5_000)
    comeBack()
    await bed.untilStatus('a', 'failed')
    expect((await node.get('a'))?.abort?.cause).toBe('deadline')
  })
})

describe('a node that is frozen', () => {
  it('A frozen node loses its sagas to another one within the lease and a poll', async () => {
    const bed = new Bed()
    const [one, two] = [await bed.node(LEASE), await bed.node({ ...LEASE, clockOriginAt: 12_345 })]
    for (const gid of ['a', 'b']) {
      bed.services.defer(gid, '02', 'action')
      await one.submit(buildSaga(gid, 3))
    }
    await bed.time.advance(4_000)
    one.freeze()
    const frozenAt = bed.time.now
    await bed.untilStatus('a', 'succeeded')
    await bed.untilStatus('b', 'succeeded')
    expect(bed.time.now - frozenAt).toBeLessThanOrEqual(LEASE.leaseMs + LEASE.pollMs + 1_000)
    expect(two.seen.claims).toEqual([2])
    expect((await bed.row('a')).epoch).toBe(2)
    expect(bed.services.listEffects('a')).toEqual(['01 action', '02 action', '03 action'])
  })

  it('A node that thaws finds its late save fenced, drops the saga and starts nothing', async () => {
    const bed = new Bed()
    const [one, two] = [await bed.node(LEASE), await bed.node(LEASE)]
    const late = bed.services.defer('a', '01', 'action')
    await one.submit(buildSaga('a'))
    one.freeze()
    // The other branch is called, and the service fails it.
    bed.services.script('a', '01', 'action', 'failure')
    late.answer('failure')
    await bed.untilStatus('a', 'failed')
    const before = await bed.row('a')
    const calls = bed.services.calls.length
    one.thaw()
    await bed.time.advance(20_000)
    expect(await bed.row('a')).toEqual(before)
    expect(bed.services.calls).toHaveLength(calls)
    expect(one.seen.events.map(({ name }) => name)).toContain('transaction-lost')
    expect(one.engine.health().inFlight).toBe(0)
    expect((await one.get('a'))?.status).toBe('failed')
    expect(two.seen.finishes).toEqual(['failed'])
  })

  it('A node that thaws sends no compensation if its abort was not stored', async () => {
    const bed = new Bed()
    const [one, two] = [await bed.node(LEASE), await bed.node(LEASE)]
    const gate = new Gate()
    const answer = bed.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a'))
    one.store.on('update', async (apply) => {
      await gate.pass()
      return apply()
    })
    answer.answer('failure')
    await bed.time.flush()
    one.freeze()
    await bed.untilStatus('a', 'succeeded')
    gate.open()
    one.thaw()
    await bed.time.advance(20_000)
    expect(one.seen.named('save-fenced')).toHaveLength(1)
    expect(bed.services.listCalls('a').filter((call) => call.endsWith('compensate'))).toEqual([])
    expect(await bed.status('a')).toBe('succeeded')
    expect(two.seen.finishes).toEqual(['succeeded'])
  })

  it('A node that thaws within its lease goes on as before', async () => {
    const bed = new Bed()
    const [one, two] = [await bed.node(LEASE), await bed.node(LEASE)]
    await one.submit(buildSaga('a', 1, { delayMs: 900 }))
    one.freeze()
    await bed.time.advance(LEASE.leaseMs - 10)
    one.thaw()
    await bed.untilStatus('a', 'succeeded')
    expect(two.seen.claims).toEqual([])
    expect(bed.services.calls.map(({ node }) => node)).toEqual(['node-1'])
  })

  it('A node that was frozen during its finish reports the end once, when it is known', async () => {
    const bed = new Bed()
    const [one, two] = [await bed.node(LEASE), await bed.node(LEASE)]
    const gate = new Gate()
    one.store.on('update', heldAnswer(gate), { when: isFinish })
    const waited = watched(one.submit(buildSaga('a'), { waitMs: 60_000 }))
    await bed.untilStatus('a', 'succeeded')
    one.freeze()
    await bed.time.advance(20_000)
    expect([waited.isSettled, two.seen.claims.length]).toEqual([false, 0])
    one.thaw()
    gate.open()
    await bed.time.flush()
    expect(waited.value?.status).toBe('succeeded')
    expect(one.seen.finishes).toEqual(['succeeded'])
  })
})

describe('two nodes that change places again and again', () => {
  it('Two nodes that change places again and again finish every saga with each effect once', async () => {
    const bed = new Bed()
    const nodes = [await bed.node(LEASE), await bed.node(LEASE)]
    bed.services.otherwise = async ({ gid, branchId, op }) => {
      await bed.time.delay(700)
      return op === 'action' && branchId === '03' && gid.endsWith('5') ? 'failure' : 'success'
    }
    for (let n = 0; n < 40; n++) await nodes[n % 2]?.submit(buildSaga(`s${n}`, 4))
    for (let round = 0; round < 6; round++) {
      const node = nodes[round % 2]
      node?.freeze()
      await bed.time.advance(11_000)
      node?.thaw()
      await bed.time.advance(500)
    }
    await bed.time.until('all are final', async () => (await bed.unfinished()) === 0)
    for (let n = 0; n < 40; n++) {
      const gid = `s${n}`
      const effects = bed.services.listEffects(gid)
      expect(new Set(effects).size).toBe(effects.length)
      if (gid.endsWith('5')) {
        expect(await bed.status(gid)).toBe('failed')
        expect(effects).toEqual(['01 action', '02 action', '02 compensate', '01 compensate'])
      } else {
        expect(await bed.status(gid)).toBe('succeeded')
        expect(effects).toEqual(['01 action', '02 action', '03 action', '04 action'])
      }
    }
  })
})
