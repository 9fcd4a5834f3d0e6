import type { DueClaim, DueClaimResult } from '@counterstep/core'
import { PARKED_AT, REST_LEASES_MAX } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import type { EngineTracer } from '../src/tracer.ts'
import { heldAnswer, heldBefore, isAbort, lostAfter, refused } from './support/fault-store.ts'
import { Fixture, type TestNode } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import type { Answer } from './support/participants.ts'
import { preparedTcc } from './support/prepared.ts'
import { buildParallel, buildSaga, readCode, watched } from './support/sagas.ts'

const FAST = { leaseMs: 3_000, pollMs: 500 }
const PAUSE = { by: { via: 'api', key: { id: 'k1', name: 'ops' } }, reason: 'a test' } as const

/** Lists the transactions whose runs start. To start one takes 2 ms. */
function startSlowly(fixture: Fixture): { readonly tracer: EngineTracer; readonly started: readonly Gid[] } {
  const started: Gid[] = []
  const tracer: EngineTracer = {
    startAccept: () => ({ trace: undefined, end: () => undefined }),
    startRun: ({ gid }) => {
      started.push(gid)
      fixture.time.now += 2
      return undefined
    },
  }
  return { tracer, started }
}

describe('after a crash', () => {
  it('After a crash a saga goes on from its last save, and every branch is taken as sent', async () => {
    const fixture = new Fixture()
    const one = await fixture.node(FAST)
    fixture.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a', 4))
    await fixture.time.advance(1_500)
    one.kill()
    fixture.services.script('a', '02', 'action', 'failure')
    const two = await fixture.node(FAST)
    await fixture.untilStatus('a', 'failed', FAST.leaseMs + FAST.pollMs + 1_000)
    expect(two.seen.claims).toEqual([1])
    expect(fixture.services.listCalls('a')).toEqual([
      '01 action',
      '02 action',
      '02 action',
      '04 compensate',
      '03 compensate',
      '02 compensate',
      '01 compensate',
    ])
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
    expect(await fixture.row('a')).toMatchObject({ epoch: 2, sentList: 'unknown' })
  })

  it('After a crash unsaved progress is repeated, and the barrier absorbs it', async () => {
    const fixture = new Fixture()
    const one = await fixture.node({ ...FAST, checkpointMs: 60_000 })
    fixture.services.defer('a', '03', 'action')
    await one.submit(buildSaga('a', 3))
    await fixture.time.flush()
    one.kill()
    await fixture.node(FAST)
    await fixture.untilStatus('a', 'succeeded')
    expect(fixture.services.listCalls('a')).toEqual([
      '01 action',
      '02 action',
      '03 action',
      '01 action',
      '02 action',
      '03 action',
    ])
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '02 action', '03 action'])
  })

  it.each([
    ['before the store had it', heldBefore, 'succeeded'],
    ['after the store had it', heldAnswer, 'failed'],
  ])('in the middle of the abort decision, %s: %s', async (_, held, status) => {
    const fixture = new Fixture()
    const one = await fixture.node(FAST)
    one.store.on('update', held(new Gate()), { when: isAbort })
    fixture.services.script('a', '02', 'action', 'failure')
    await one.submit(buildParallel('a', 2))
    await fixture.time.advance(100)
    one.kill()
    await fixture.node(FAST)
    await fixture.untilStatus('a', status)
    const undone = fixture.services.listEffects('a').filter((effect) => effect.endsWith('compensate'))
    expect(undone).toEqual(status === 'failed' ? ['01 compensate'] : [])
  })

  it('Retry limits count attempts before a crash', async () => {
    const fixture = new Fixture()
    const one = await fixture.node(FAST)
    fixture.services.script('a', '01', 'action', 'unknown', 'unknown', 'unknown', 'unknown')
    await one.submit(buildSaga('a', 1, { retry: { limit: 3, initialMs: 500, factor: 1 } }))
    await fixture.time.until('two tries', () => fixture.services.calls.length === 2)
    await fixture.time.advance(10)
    one.kill()
    await fixture.node(FAST)
    await fixture.untilStatus('a', 'failed')
    expect(fixture.services.listCalls('a').filter((call) => call === '01 action')).toHaveLength(3)
  })

  it('A claim after the deadline aborts at once', async () => {
    const fixture = new Fixture()
    const one = await fixture.node(FAST)
    fixture.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a', 3, { deadlineMs: 2_000 }))
    await fixture.time.advance(100)
    one.kill()
    await fixture.node(FAST)
    await fixture.untilStatus('a', 'failed')
    expect(fixture.services.listCalls('a').filter((call) => call.endsWith('action'))).toEqual([
      '01 action',
      '02 action',
    ])
    expect(fixture.services.listCalls('a').slice(2)).toEqual([
      '03 compensate',
      '02 compensate',
      '01 compensate',
    ])
    const undone = fixture.services.calls.find(({ op }) => op === 'compensate')
    expect((undone?.at ?? 0) - (await fixture.row('a')).createdAt).toBeGreaterThanOrEqual(2_000)
  })

  it('500 interrupted sagas all end, with a bounded number in flight at once', async () => {
    const fixture = new Fixture()
    const one = await fixture.node(FAST)
    const gate = new Gate()
    fixture.services.otherwise = async ({ branchId }): Promise<Answer> => {
      if (branchId === '02') await gate.pass()
      return 'success'
    }
    for (let n = 0; n < 500; n++) await one.submit(buildSaga(`s${n}`, 3))
    await fixture.time.advance(1_200)
    one.kill()
    gate.open()
    await fixture.time.flush()
    fixture.services.inFlightMost = 0
    fixture.services.otherwise = async ({ gid, branchId, op }) => {
      await fixture.time.delay(20)
      return op === 'action' && branchId === '03' && gid.endsWith('7') ? 'failure' : 'success'
    }
    const two = await fixture.node({ ...FAST, recoveryInFlightMax: 60, claimLimit: 20 })
    const startedAt = fixture.time.now
    await fixture.time.until('all are final', async () => (await fixture.unfinished()) === 0)
    expect(fixture.services.inFlightMost).toBeGreaterThan(30)
    expect(fixture.services.inFlightMost).toBeLessThanOrEqual(60)
    // All go to one target, whose share of 60 places is 34. Those that find no place come again about a second later,
    // as fast as it answers, and not poll by poll.
    expect(fixture.time.now - startedAt).toBeLessThan(FAST.leaseMs + FAST.pollMs + 4_500)
    const claims = two.seen.claims.reduce((sum, count) => sum + count, 0)
    expect(claims).toBeGreaterThanOrEqual(500)
    expect(claims).toBeLessThan(2_000)
    for (let n = 0; n < 500; n++) {
      const gid = `s${n}`
      const failed = gid.endsWith('7')
      expect(await fixture.status(gid)).toBe(failed ? 'failed' : 'succeeded')
      expect(fixture.services.listEffects(gid)).toEqual(
        failed
          ? ['01 action', '02 action', '02 compensate', '01 compensate']
          : ['01 action', '02 action', '03 action'],
      )
    }
  })

  it('Recovery goes on although more accepted sagas run here than recovery may run', async () => {
    const fixture = new Fixture()
    const one = await fixture.node(FAST)
    fixture.services.defer('old', '01', 'action')
    await one.submit(buildSaga('old'))
    one.kill()
    const two = await fixture.node({ ...FAST, recoveryInFlightMax: 4, claimLimit: 4 })
    for (let n = 0; n < 10; n++) {
      fixture.services.defer(`new${n}`, '01', 'action')
      await two.submit(buildSaga(`new${n}`))
    }
    await fixture.untilStatus('old', 'succeeded', 10_000)
  })
})

describe('the poll of what is due', () => {
  it('A poll without room is repeated as soon as there is room', async () => {
    const fixture = new Fixture()
    const one = await fixture.node(FAST)
    const gate = new Gate()
    fixture.services.otherwise = async (): Promise<Answer> => {
      await gate.pass()
      return 'success'
    }
    for (let n = 0; n < 8; n++) await one.submit(buildSaga(`s${n}`, 1))
    one.kill()
    const limits = { recoveryInFlightMax: 4, claimLimit: 4, targetShare: 1 }
    const two = await fixture.node({ ...FAST, ...limits, pollMs: 10_000 })
    await fixture.time.advance(FAST.leaseMs + 17_500)
    expect(two.seen.claims).toEqual([4])
    gate.open()
    await fixture.time.advance(100)
    expect([two.seen.claims, await fixture.unfinished()]).toEqual([[4, 4], 0])
  })

  it('The polls go on after a hint came due during a poll', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('claim-due', heldAnswer(gate))
    await node.submit(buildSaga('a', 2, { delayMs: 5_000 }))
    await fixture.time.until('a poll is under way', () => gate.waiting === 1)
    await fixture.time.advance(10_000)
    gate.open()
    await fixture.untilStatus('a', 'succeeded', 10)
    const polls = node.store.count('claim-due')
    await fixture.time.advance(10_000)
    expect(node.store.count('claim-due')).toBeGreaterThan(polls + 8)
  })

  it('The polls go on after an outage of the store', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const comeBack = node.store.goDown(refused)
    await fixture.time.advance(10_000)
    comeBack()
    const other = fixture.idleNode()
    await other.submit(buildSaga('a', 1, { delayMs: 1_500 }))
    other.kill()
    await fixture.untilStatus('a', 'succeeded', 4_000)
    expect(node.seen.named('store-does-not-answer')).toHaveLength(1)
    expect(node.seen.named('store-answers-again')).toHaveLength(1)
  })

  it('A poll claims fewer rows after a claim without an answer, and more again after an answer', async () => {
    const fixture = new Fixture()
    const one = await fixture.node(FAST)
    for (let n = 0; n < 40; n++) {
      fixture.services.defer(`s${n}`, '01', 'action')
      await one.submit(buildSaga(`s${n}`, 1))
    }
    one.kill()
    await fixture.time.advance(FAST.leaseMs)
    const two = fixture.idleNode({ ...FAST, claimLimit: 16 })
    two.store.on('claim-due', lostAfter, { times: 3 })
    await two.engine.start()
    await fixture.time.until('all are final', async () => (await fixture.unfinished()) === 0, 20_000)
    const claims = two.store.calls.filter(({ verb }) => verb === 'claim-due')
    const limits = claims.map(({ request }) => (request as DueClaim).limit)
    expect(limits.slice(0, 6)).toEqual([16, 8, 4, 2, 4, 8])
  })

  it('A poll goes on at once when the store has more due rows than fit in one answer', async () => {
    const fixture = new Fixture()
    const other = fixture.idleNode()
    for (let n = 0; n < 6; n++) await other.submit(buildSaga(`s${n}`, 1, { delayMs: 1_500 }))
    other.kill()
    await fixture.time.advance(2_000)
    const node = fixture.idleNode({ claimLimit: 16, pollMs: 60_000 })
    let left = 6
    node.store.claimDue = async (claim): Promise<DueClaimResult> => {
      left -= 2
      return { ...(await fixture.store.claimDue({ ...claim, limit: 2 })), mayBeMore: left > 0 }
    }
    await node.engine.start()
    await fixture.time.until('all are final', async () => (await fixture.unfinished()) === 0, 1_000)
    expect(left).toBe(0)
  })

  it('A claim of which the store brings a part never makes the next one ask for more than the limit', async () => {
    const fixture = new Fixture()
    const other = fixture.idleNode()
    for (let n = 0; n < 60; n++) await other.submit(buildSaga(`s${n}`, 1, { delayMs: 1_500 }))
    other.kill()
    await fixture.time.advance(2_000)
    const node = fixture.idleNode({ claimLimit: 16 })
    const limits: number[] = []
    node.store.claimDue = async (claim): Promise<DueClaimResult> => {
      limits.push(claim.limit)
      const result = await fixture.store.claimDue({ ...claim, limit: Math.min(claim.limit, 12) })
      return { ...result, mayBeMore: result.claimed.length > 0 }
    }
    await node.engine.start()
    await fixture.time.until('all are final', async () => (await fixture.unfinished()) === 0, 10_000)
    expect(Math.max(...limits)).toBe(16)
  })

  it('S40: A node has started after its first claim, though rows that end without a call leave room for more', async () => {
    const fixture = new Fixture()
    const other = fixture.idleNode()
    for (let n = 0; n < 40; n++)
      await other.submit(buildSaga(`s${n}`, 1, { delayMs: 20_000, deadlineMs: 5_000 }))
    other.kill()
    await fixture.time.advance(6_000)
    const node = fixture.idleNode()
    const gate = new Gate()
    node.store.claimDue = async (claim): Promise<DueClaimResult> => {
      if (node.seen.claims.length > 0) await gate.pass()
      return await fixture.store.claimDue(claim)
    }
    const started = watched(node.engine.start())
    await fixture.time.until('the second claim is under way', () => gate.waiting === 1)
    expect(started.isSettled).toBe(true)
    gate.open()
    await fixture.time.until('all have ended', async () => (await fixture.unfinished()) === 0, 1_000)
    expect(fixture.services.calls).toEqual([])
  })

  it('S40: A node that is stopped, or whose first claim fails, has started, too', async () => {
    const fixture = new Fixture()
    const node = fixture.idleNode()
    node.store.goDown(refused)
    const started = watched(node.engine.start())
    await fixture.time.advance(10)
    const stopped = fixture.idleNode()
    void stopped.engine.close()
    const late = watched(stopped.engine.start())
    await fixture.time.advance(10)
    expect([started.isSettled, late.isSettled]).toEqual([true, true])
  })

  it('S40: Claimed rows that take long to start are spread over turns of the event loop', async () => {
    const fixture = new Fixture()
    const other = fixture.idleNode()
    for (let n = 0; n < 7; n++) await other.submit(buildSaga(`s${n}`, 1, { delayMs: 2_000 }))
    other.kill()
    await fixture.time.advance(3_000)
    const { tracer, started } = startSlowly(fixture)
    const node = fixture.idleNode({ tracer })
    void node.engine.start()
    // Each takes 2 ms, so the third one takes a turn of 5 ms over its end.
    for (const inAll of [3, 6, 7]) {
      await fixture.time.until('a turn is over', () => started.length >= inAll, 100)
      expect(started).toHaveLength(inAll)
    }
    await fixture.time.until('all have ended', async () => (await fixture.unfinished()) === 0, 1_000)
  })

  it('S40: Rows that start by turns all start, though the next claim fails meanwhile', async () => {
    const fixture = new Fixture()
    const other = fixture.idleNode()
    for (let n = 0; n < 20; n++) await other.submit(buildSaga(`s${n}`, 1, { delayMs: 2_000 }))
    other.kill()
    await fixture.time.advance(3_000)
    const node = fixture.idleNode({ tracer: startSlowly(fixture).tracer })
    const second = node.store.on('claim-due', refused, { when: () => node.seen.claims.length > 0 })
    void node.engine.start()
    await fixture.time.until('all have ended', async () => (await fixture.unfinished()) === 0, 2_000)
    second.remove()
    expect(node.seen.named('store-does-not-answer')).toHaveLength(1)
  })

  it('An idle node polls slowly and steadily', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ pollMs: 1_000 })
    await fixture.time.advance(60_000)
    expect(node.store.count('claim-due')).toBeGreaterThan(55)
    expect(node.store.count('claim-due')).toBeLessThanOrEqual(61)
  })
})

describe('behind a backlog', () => {
  /** Starts a node whose store says that more rows are due, and whose next claim is not answered before the gate opens. */
  async function behindBacklog(fixture: Fixture, settings = {}) {
    const node = fixture.idleNode(settings)
    const gate = new Gate()
    let claims = 0
    node.store.claimDue = async (claim): Promise<DueClaimResult> => {
      claims++
      if (claims === 1) return { now: fixture.time.now, claimed: [], mayBeMore: true }
      await gate.pass()
      return await fixture.store.claimDue(claim)
    }
    void node.engine.start()
    await fixture.time.until('there is a backlog', () => gate.waiting === 1)
    return { node, gate }
  }

  it('S40: A confirm does not wait for those of 256 others whose services hang', async () => {
    const fixture = new Fixture()
    const { node, gate } = await behindBacklog(fixture, { targetShare: 1 })
    const hangs = new Gate()
    fixture.services.otherwise = async ({ gid }): Promise<Answer> => {
      if (gid !== 'good') await hangs.pass()
      return 'success'
    }
    async function confirm(gid: string): Promise<void> {
      await preparedTcc(fixture, node, gid)
      await node.engine.submitPrepared(gid as Gid)
    }
    for (let n = 0; n < 256; n++) await confirm(`hangs-${n}`)
    await fixture.time.until('all hang', () => hangs.waiting >= 256, 1_000)
    await confirm('good')
    await fixture.untilStatus('good', 'succeeded', 100)
    expect(gate.waiting).toBe(1)
  })

  const RETRY = { initialMs: 3_000, factor: 1, jitter: 0 }

  it('S40: A retry of a row that this node has given back is made when it is due', async () => {
    const fixture = new Fixture()
    const { node, gate } = await behindBacklog(fixture)
    fixture.services.script('a', '01', 'action', 'unknown', 'unknown')
    await node.submit(buildSaga('a', 1, { retry: RETRY }))
    await fixture.untilStatus('a', 'succeeded', 6_300)
    expect((await fixture.row('a')).epoch).toBe(3)
    expect(gate.waiting).toBe(1)
  })

  it('S40: Timers and delayed starts of a caller do not wait for the many of another', async () => {
    const fixture = new Fixture()
    const { node, gate } = await behindBacklog(fixture)
    for (let n = 0; n < 50; n++)
      await node.submit(buildSaga(`s${n}`, 1, { delayMs: 3_000 }), { caller: 'flood' })
    await node.submit(buildSaga('delayed', 1, { delayMs: 3_000 }), { caller: 'shop' })
    const branches = [
      { id: 'first', wait: { ms: 1_500 } },
      { id: 'second', wait: { ms: 1_500 } },
    ]
    await node.submit({ ...buildSaga('waits', 0), branches }, { caller: 'shop' })
    await fixture.time.advance(3_250)
    expect(await fixture.status('delayed')).toBe('succeeded')
    expect(await fixture.status('waits')).toBe('succeeded')
    expect(await fixture.unfinished()).toBe(42)
    gate.open()
    await fixture.time.until('all have ended', async () => (await fixture.unfinished()) === 0, 1_000)
  })

  it('S40: A row that is claimed before a backlog does not wait for the places that the backlog holds', async () => {
    const fixture = new Fixture()
    const idle = fixture.idleNode()
    for (let n = 0; n < 40; n++) await idle.submit(buildSaga(`s${n}`, 1, { delayMs: 5_000 }))
    idle.kill()
    const hangs = new Gate()
    fixture.services.otherwise = async ({ gid }): Promise<Answer> => {
      if (gid !== 'shop') await hangs.pass()
      return 'success'
    }
    await fixture.time.advance(5_100)
    const listedOrigins = ['http://bank.test']
    const node = fixture.idleNode({ recoveryInFlightMax: 16, targetShare: 1, listedOrigins })
    const gate = new Gate()
    let claims = 0
    node.store.claimDue = async (claim): Promise<DueClaimResult> => {
      claims++
      if (claims > 1) await gate.pass()
      const claimed = await fixture.store.claimDue(claim)
      return claims > 1 ? claimed : { ...claimed, mayBeMore: true }
    }
    await node.engine.start()
    await fixture.time.advance(200)
    expect([hangs.waiting > 0, hangs.waiting < 40]).toEqual([true, true])
    await node.submit(buildSaga('shop', 1, { delayMs: 3_000 }), { caller: 'shop' })
    await fixture.untilStatus('shop', 'succeeded', 3_200)
    hangs.open()
    gate.open()
  })

  it('A row that is being claimed by its gid while the node stops does not wait for its lease', async () => {
    const fixture = new Fixture()
    const { node, gate } = await behindBacklog(fixture, { leaseMs: 600_000 })
    await node.submit(buildSaga('a', 1, { delayMs: 3_000 }))
    const claimed = new Gate()
    node.store.on('claim', heldAnswer(claimed))
    await fixture.time.until('it is being claimed', () => claimed.waiting === 1, 4_000)
    gate.open()
    const closing = watched(node.engine.close())
    await fixture.time.advance(100)
    claimed.open()
    await fixture.time.until('closed', () => closing.isSettled)
    await fixture.node()
    await fixture.untilStatus('a', 'succeeded', 5_000)
  })

  it('S40: Few retries of one service are made before the backlog, and those of another beside them', async () => {
    const fixture = new Fixture()
    const listedOrigins = ['http://bank.test', 'http://other.test']
    const { node, gate } = await behindBacklog(fixture, { listedOrigins })
    fixture.services.otherwise = ({ attempt }) => (attempt === 1 ? 'unknown' : 'success')
    for (let n = 0; n < 50; n++) await node.submit(buildSaga(`s${n}`, 1, { retry: RETRY }))
    const branches = [{ id: '01', action: 'http://other.test/pay', compensation: 'http://other.test/undo' }]
    await node.submit({ ...buildSaga('other', 0, { retry: RETRY }), branches })
    await fixture.time.advance(3_200)
    expect(await fixture.status('other')).toBe('succeeded')
    expect(await fixture.unfinished()).toBe(42)
    gate.open()
    await fixture.time.until('all have ended', async () => (await fixture.unfinished()) === 0, 1_000)
  })
})

describe('a hint', () => {
  const SLOW_POLL = { pollMs: 60_000, leaseMs: 600_000 }

  it('S40: Leads to a poll at its instant, also where as many hints are kept as may be', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ ...SLOW_POLL, hintsMax: 2 })
    for (const gid of ['x', 'y']) await node.submit(buildSaga(gid, 1, { delayMs: 50_000 }))
    await node.submit(buildSaga('a', 1, { delayMs: 5_000 }))
    await fixture.untilStatus('a', 'succeeded', 5_010)
  })

  it('S40: Is not kept for a parked row, or for one that is due in more than two days', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ ...SLOW_POLL, hintsMax: 2 })
    await node.submit(buildSaga('far', 1, { delayMs: 3 * 24 * 3_600_000 }))
    fixture.services.script('parked', '01', 'action', 'unknown')
    await node.submit(buildSaga('parked', 2))
    await node.engine.pause('parked' as Gid, {}, PAUSE)
    await fixture.time.until('is parked', async () => (await fixture.row('parked')).dueAt === PARKED_AT)
    await node.submit(buildSaga('a', 1, { delayMs: 5_000 }))
    await node.submit(buildSaga('b', 1, { delayMs: 7_000 }))
    await fixture.untilStatus('b', 'succeeded', 7_010)
  })
})

describe('a row that no node can run', () => {
  async function corrupt(fixture: Fixture, gid: string): Promise<void> {
    const row = await fixture.row(gid)
    const { token, version, status, format, retrying } = row
    const hold = { type: 'release', dueAt: fixture.time.now } as const
    await fixture.store.update({
      ...{ gid: gid as Gid, token, version, status, format, retrying, attention: false, hold },
      writeId: `corrupt-${gid}`,
      progress: '{"b":[7]}',
    })
  }

  it('A row whose record cannot be read is parked with attention, and its neighbours are not delayed', async () => {
    const fixture = new Fixture()
    const idle = fixture.idleNode()
    for (const gid of ['a', 'b', 'c']) await idle.submit(buildSaga(gid, 2, { delayMs: 2_000 }))
    idle.kill()
    await corrupt(fixture, 'b')
    await fixture.time.advance(2_500)
    const node = await fixture.node({ claimLimit: 3 })
    await fixture.time.advance(100)
    expect(await fixture.row('b')).toMatchObject({ attention: true, owned: false, dueAt: PARKED_AT })
    expect([await fixture.status('a'), await fixture.status('c')]).toEqual(['succeeded', 'succeeded'])
    expect(node.seen.named('transaction-parked')).toMatchObject([{ gid: 'b' }])
    expect((await node.get('b'))?.attention).toContain('cannot be read')
    expect((await node.engine.list({ limit: 10, attention: true })).items.map(({ gid }) => gid)).toEqual([
      'b',
    ])
    await fixture.time.advance(60_000)
    expect(node.seen.named('transaction-parked')).toHaveLength(1)
    expect(await readCode(node.command('abort', 'b'))).toBe('SAGA_INTERNAL')
  })

  it('A parked row is claimed again after a retry, and parked again while it cannot be read', async () => {
    const fixture = new Fixture()
    const idle = fixture.idleNode()
    await idle.submit(buildSaga('b', 2, { delayMs: 2_000 }))
    idle.kill()
    const good = (await fixture.row('b')).progress
    await corrupt(fixture, 'b')
    const node = await fixture.node()
    await fixture.time.flush()
    expect((await node.command('retry', 'b')).gid).toBe('b')
    await fixture.time.advance(100)
    expect(node.seen.named('transaction-parked')).toHaveLength(2)
    const { token, version, status, format, retrying } = await fixture.row('b')
    const hold = { type: 'command' } as const
    const repaired = { token, version, status, format, retrying, hold, attention: true, writeId: 'repair' }
    await fixture.store.update({ ...repaired, gid: 'b' as Gid, progress: good })
    await node.command('retry', 'b')
    await fixture.untilStatus('b', 'succeeded')
  })

  it('The neighbours of a row run while its parking meets an outage of the store', async () => {
    const fixture = new Fixture()
    const idle = fixture.idleNode()
    for (const gid of ['bad', 'good']) await idle.submit(buildSaga(gid, 2, { delayMs: 2_000 }))
    idle.kill()
    await corrupt(fixture, 'bad')
    await fixture.time.advance(2_500)
    const node = fixture.idleNode()
    node.store.on('update', refused, { times: 8, when: ({ gid }: { gid: string }) => gid === 'bad' })
    void node.engine.start()
    await fixture.untilStatus('good', 'succeeded', 1_000)
    await fixture.time.until('parked', async () => (await fixture.row('bad')).dueAt === PARKED_AT)
  })

  /** Plays a row that kills its first four owners, and then a node that it does not kill. */
  async function crashing(fixture: Fixture): Promise<TestNode> {
    const first = await fixture.node(FAST)
    fixture.services.otherwise = ({ gid }) => {
      if (gid === 'a') for (const node of nodes) node.kill()
      return 'success'
    }
    const nodes = [first]
    await first.submit(buildSaga('a'))
    await fixture.time.flush()
    for (let crash = 0; crash < 3; crash++) {
      const before = fixture.services.calls.length
      nodes.push(await fixture.node(FAST))
      await fixture.time.until('called again', () => fixture.services.calls.length > before)
    }
    expect(await fixture.row('a')).toMatchObject({ epoch: 4, claimsWithoutProgress: 3 })
    fixture.services.otherwise = () => 'success'
    const last = await fixture.node(FAST)
    await fixture.time.until('rests', async () => (await fixture.row('a')).attention === true)
    return last
  }

  it('A row that was claimed three times without progress rests, its neighbours go on, and it ends by itself', async () => {
    const fixture = new Fixture()
    const last = await crashing(fixture)
    const row = await fixture.row('a')
    expect(row).toMatchObject({ owned: false, status: 'submitted' })
    expect((await last.get('a'))?.attention).toContain('without progress')
    await last.submit(buildSaga('b'))
    await fixture.untilStatus('b', 'succeeded', 1_000)
    await fixture.untilStatus('a', 'succeeded', (REST_LEASES_MAX + 1) * FAST.leaseMs)
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '02 action'])
  })

  it('A retry ends the rest of a row', async () => {
    const fixture = new Fixture()
    const last = await crashing(fixture)
    expect((await last.command('retry', 'a')).attention).toBeUndefined()
    await fixture.untilStatus('a', 'succeeded', FAST.leaseMs)
  })
})
