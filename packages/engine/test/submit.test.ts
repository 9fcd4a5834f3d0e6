import { type Gid, InvalidRequestError } from '@counterstep/protocol'
import { memoryStore } from '@counterstep/store-conformance'
import { describe, expect, it } from 'vitest'
import { heldAnswer, heldBefore, lostAfter, lostBefore, refused } from './support/fault-store.ts'
import { Fixture } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import { buildBranch, buildSaga, readCode, watched } from './support/sagas.ts'

const OTHER = { headers: { 'x-other': '1' } }

describe('a gid that is taken', () => {
  it('A submit with the content of a gid that runs here is the same transaction', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ isShared: false })
    const call = fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const again = await node.submit(buildSaga('a'))
    expect(again).toMatchObject({ gid: 'a', status: 'submitted', ack: 'durable' })
    expect(node.store.count('create')).toBe(1)
    call.answer('success')
    await fixture.untilStatus('a', 'succeeded')
    expect(fixture.services.listCalls('a')).toHaveLength(2)
  })

  it('A submit with the content of a gid that runs here is stored again if a failover has lost it', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const first = fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const replica = memoryStore({ now: () => fixture.time.now })
    node.store.failOver(replica)
    const again = await node.submit(buildSaga('a'))
    expect(again).toMatchObject({ gid: 'a', status: 'submitted', ack: 'durable' })
    const readStatus = async () => (await replica.readMany(['a' as Gid]))[0]?.status
    expect(await readStatus()).toBe('submitted')
    first.answer('success')
    await fixture.time.until('the end', async () => (await readStatus()) === 'succeeded')
    // The first action is called again, since the row knows nothing of its call.
    expect(fixture.services.listCalls('a')).toHaveLength(3)
  })

  it('A submit with the content of a gid that runs here and stands changes nothing', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const call = fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const before = await fixture.row('a')
    expect(await node.submit(buildSaga('a'))).toMatchObject({ status: 'submitted', ack: 'durable' })
    expect(await fixture.row('a')).toEqual(before)
    call.answer('success')
    await fixture.untilStatus('a', 'succeeded')
    expect(fixture.services.listCalls('a')).toHaveLength(2)
    expect(node.seen.accepts).toBe(1)
  })

  it('A submit with the content of a finished gid is answered with the end', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await node.submit(buildSaga('a'), { waitMs: 1_000 })
    expect((await node.submit(buildSaga('a'))).status).toBe('succeeded')
    expect((await node.submit(buildSaga('a'), { waitMs: 1_000 })).status).toBe('succeeded')
    expect(fixture.services.listCalls('a')).toHaveLength(2)
    expect(node.seen.accepts).toBe(1)
  })

  it('A submit with the content of a gid that is being accepted is answered together with it', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('create', heldBefore(gate))
    const both = [watched(node.submit(buildSaga('a'))), watched(node.submit(buildSaga('a')))]
    await fixture.time.advance(100)
    expect(both.map(({ isSettled }) => isSettled)).toEqual([false, false])
    gate.open()
    await fixture.time.flush()
    expect(both.map(({ value }) => value?.gid)).toEqual(['a', 'a'])
    expect(node.store.count('create')).toBe(1)
  })

  it('A submit with the same content and another ack is the same transaction', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await node.submit(buildSaga('a', 2, { ack: 'memory' }), { waitMs: 1_000 })
    expect((await node.submit(buildSaga('a', 2, { ack: 'durable' }))).status).toBe('succeeded')
  })

  it('A submit with the content of a gid that runs on another node is the same transaction', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    const call = fixture.services.defer('a', '01', 'action')
    await one.submit(buildSaga('a'))
    expect((await two.submit(buildSaga('a'))).status).toBe('submitted')
    call.answer('success')
    await fixture.untilStatus('a', 'succeeded')
    expect(fixture.services.calls.map(({ node }) => node)).toEqual(['node-1', 'node-1'])
  })

  it.each(['running', 'finished', 'on another node'])(
    'by other content (%s) is a conflict, and the first is untouched',
    async (where) => {
      const fixture = new Fixture()
      const [one, two] = [await fixture.node(), await fixture.node()]
      const call = fixture.services.defer('a', '01', 'action')
      await one.submit(buildSaga('a'))
      if (where === 'finished') {
        call.answer('success')
        await fixture.untilStatus('a', 'succeeded')
      }
      const before = await fixture.row('a')
      const node = where === 'on another node' ? two : one
      expect(await readCode(node.submit(buildSaga('a', 2, OTHER)))).toBe('SAGA_GID_CONFLICT')
      expect(await fixture.row('a')).toEqual(before)
      expect(node.seen.refusals).toEqual(['SAGA_GID_CONFLICT'])
      call.answer('success')
      await fixture.untilStatus('a', 'succeeded')
    },
  )

  it('A submit with other content than one being accepted is a conflict once that is stored', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('create', heldBefore(gate))
    const first = watched(node.submit(buildSaga('a')))
    const second = watched(readCode(node.submit(buildSaga('a', 2, OTHER))))
    await fixture.time.advance(100)
    gate.open()
    await fixture.time.flush()
    expect([first.value?.gid, second.value]).toEqual(['a', 'SAGA_GID_CONFLICT'])
  })

  it('100 submits of one gid at once leave one transaction, and all are answered', async () => {
    const fixture = new Fixture()
    const nodes = [await fixture.node(), await fixture.node()]
    const answers = Array.from({ length: 100 }, (_, n) => {
      const node = nodes[n % 2]
      return watched(readCode(node?.submit(buildSaga('a', 2, n % 10 < 8 ? {} : OTHER)) ?? Promise.resolve()))
    })
    await fixture.untilStatus('a', 'succeeded')
    const codes = answers.map(({ value }) => value)
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(80)
    expect(codes.filter((code) => code === 'SAGA_GID_CONFLICT')).toHaveLength(20)
    expect(await fixture.rows()).toBe(1)
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '02 action'])
    expect(fixture.services.listCalls('a')).toHaveLength(2)
  })
})

describe('a request that is refused', () => {
  const deep = JSON.parse('['.repeat(200) + ']'.repeat(200))
  it.each([
    ['no object', 7],
    ['a list', []],
    ['nothing', undefined],
    ['no branches', { gid: 'a' }],
    ['an empty list of branches', { gid: 'a', branches: [] }],
    ['too many branches', buildSaga('a', 101)],
    ['a cycle', { gid: 'a', branches: [buildBranch('a', '01', { after: ['01'] })] }],
    ['an unknown field', { ...buildSaga('a'), priority: 1 }],
    ['a bad gid', { ...buildSaga('a'), gid: 'a b' }],
    [
      'a URL of another scheme',
      buildSaga('a', 1, { branches: [buildBranch('a', '01', { action: 'ftp://x/y' })] }),
    ],
    [
      'a payload that is nested too deep',
      buildSaga('a', 1, { branches: [buildBranch('a', '01', { payload: deep })] }),
    ],
    ['a deadline over 30 days', buildSaga('a', 1, { deadlineMs: 31 * 86_400_000 })],
    ['a header with a line break', buildSaga('a', 1, { headers: { x: 'a\r\nb' } })],
    ['a bad ack', { ...buildSaga('a'), ack: 'later' }],
  ])('for %s says so and stores nothing', async (_, body) => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await expect(node.submit(body)).rejects.toBeInstanceOf(InvalidRequestError)
    await fixture.time.advance(5_000)
    expect(await fixture.rows()).toBe(0)
    expect(node.store.count('create')).toBe(0)
    expect(fixture.services.calls).toEqual([])
    expect(node.seen.refusals).toHaveLength(1)
  })

  it('Sagas that go on failing do not use up the room for new submits', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ inFlightMax: 3, recoveryInFlightMax: 2, targetShare: 1 })
    const poison = ['p1', 'p2', 'p3']
    fixture.services.otherwise = ({ gid }) => (poison.includes(gid) ? 'unknown' : 'success')
    const impatient = { retry: { initialMs: 1_000, capMs: 1_000 } }
    for (const gid of poison) await node.submit({ ...buildSaga(gid), ...impatient })
    expect(await readCode(node.submit(buildSaga('early')))).toBe('SAGA_OVER_CAPACITY')
    await fixture.time.advance(30_000)
    for (const gid of ['a', 'b', 'c', 'd']) {
      await node.submit(buildSaga(gid))
      await fixture.untilStatus(gid, 'succeeded', 1_000)
    }
    expect(await Promise.all(poison.map((gid) => fixture.status(gid)))).toEqual(poison.map(() => 'submitted'))
  })

  it('A submit without room is refused and stores nothing, and there is room again when a saga has ended', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ inFlightMax: 3, targetShare: 1 })
    const calls = ['a', 'b'].map((gid) => fixture.services.defer(gid, '01', 'action'))
    await node.submit(buildSaga('a'))
    await node.submit(buildSaga('b'))
    const gate = new Gate()
    node.store.on('create', heldBefore(gate))
    const third = watched(node.submit(buildSaga('c')))
    expect(await readCode(node.submit(buildSaga('d')))).toBe('SAGA_OVER_CAPACITY')
    expect(node.engine.health()).toMatchObject({ inFlight: 3, inFlightMax: 3 })
    expect((await node.submit(buildSaga('a'))).gid).toBe('a')
    gate.open()
    await fixture.untilStatus('c', 'succeeded')
    expect(third.value?.gid).toBe('c')
    expect((await node.submit(buildSaga('d'))).gid).toBe('d')
    for (const call of calls) call.answer('success')
    await fixture.untilStatus('b', 'succeeded')
    expect(await fixture.rows()).toBe(4)
  })
})

describe('a store that cannot take it', () => {
  it('A definite refusal of the store is answered as not accepted, with the gid, and stores nothing', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    node.store.on('create', refused)
    await expect(node.submit(buildSaga('a'))).rejects.toMatchObject({ code: 'SAGA_NOT_ACCEPTED', gid: 'a' })
    await fixture.time.advance(30_000)
    expect(await fixture.rows()).toBe(0)
    expect(node.store.count('create')).toBe(1)
    expect(fixture.services.calls).toEqual([])
    expect((await node.submit(buildSaga('a'), { waitMs: 1_000 })).status).toBe('succeeded')
  })

  it('A create without an answer is sent again with the same write, and is accepted once', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    node.store.on('create', lostAfter)
    node.store.on('create', lostBefore)
    node.store.on('create', refused)
    const submitted = watched(node.submit(buildSaga('a'), { waitMs: 5_000 }))
    await fixture.untilStatus('a', 'succeeded')
    expect(submitted.value?.status).toBe('succeeded')
    const rows = node.store.calls.filter(({ verb }) => verb === 'create').map(({ request }) => request)
    expect(rows).toHaveLength(4)
    expect(new Set(rows).size).toBe(1)
    expect(node.seen.accepts).toBe(1)
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action'])
  })

  it('A definite refusal after a create without an answer leaves the outcome unknown until it is definite', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    node.store.on('create', lostBefore)
    const takeBack = node.store.goDown(refused)
    const code = watched(readCode(node.submit(buildSaga('a'))))
    await fixture.time.advance(2_999)
    expect(code.isSettled).toBe(false)
    await fixture.time.advance(1)
    expect(code.value).toBe('SAGA_OUTCOME_UNKNOWN')
    takeBack()
    await fixture.untilStatus('a', 'succeeded')
  })

  it('A create without an answer for half of the retention is given up, because later the gid would be free again', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ retentionMs: 60_000 })
    node.store.on('create', lostAfter)
    const takeBack = node.store.goDown(refused)
    const code = watched(readCode(node.submit(buildSaga('a'))))
    await fixture.time.advance(30_000)
    takeBack()
    const creates = node.store.count('create')
    await fixture.time.advance(10_000)
    expect(code.value).toBe('SAGA_OUTCOME_UNKNOWN')
    expect(node.store.count('create')).toBe(creates)
    expect(node.seen.named('accept-given-up')).toHaveLength(1)
    expect(await fixture.status('a')).toBe('succeeded')
  })

  it.each([
    ['before', heldBefore],
    ['after', heldAnswer],
  ])('and hangs %s the write: unknown within storeTimeoutMs, and the saga still ends', async (_, held) => {
    const fixture = new Fixture()
    const node = await fixture.node({ storeTimeoutMs: 2_000 })
    const gate = new Gate()
    node.store.on('create', held(gate))
    const submitted = watched(node.submit(buildSaga('a')))
    await fixture.time.advance(1_999)
    expect(submitted.isSettled).toBe(false)
    await fixture.time.advance(1)
    expect(submitted.error).toMatchObject({ code: 'SAGA_OUTCOME_UNKNOWN', gid: 'a' })
    expect(fixture.services.calls).toEqual([])
    gate.open()
    await fixture.untilStatus('a', 'succeeded')
    expect((await node.submit(buildSaga('a'))).status).toBe('succeeded')
    expect(fixture.services.listCalls('a')).toHaveLength(2)
  })

  it('An unknown outcome names a drawn gid, so that the caller can read it', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('create', heldBefore(gate))
    const { gid: _, ...request } = buildSaga('a')
    const submitted = watched(node.submit(request))
    await fixture.time.advance(3_000)
    const { gid } = submitted.error as { readonly gid: string }
    gate.open()
    await fixture.untilStatus(gid, 'succeeded')
  })

  it("A bug in the store's create rejects that submit and no other", async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    node.store.on('create', async () => {
      throw new TypeError('a bug in the driver')
    })
    await expect(node.submit(buildSaga('a'))).rejects.toBeInstanceOf(TypeError)
    expect((await node.submit(buildSaga('a'), { waitMs: 1_000 })).status).toBe('succeeded')
  })
})

describe('ack memory', () => {
  const memory = { ack: 'memory' } as const

  it('A submit with ack memory is answered before it is durable, and no branch is called before it is', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('create', heldBefore(gate))
    const view = await node.submit(buildSaga('a', 2, memory))
    expect(view).toMatchObject({ gid: 'a', status: 'submitted', ack: 'memory' })
    expect(await fixture.rows()).toBe(0)
    expect(await node.get('a')).toMatchObject({ gid: 'a', status: 'submitted' })
    await fixture.time.advance(20_000)
    expect(fixture.services.calls).toEqual([])
    gate.open()
    await fixture.untilStatus('a', 'succeeded')
  })

  it('A submit with ack memory is written until it is definite, even after refusals', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    for (const fault of [refused, lostBefore, refused, lostAfter]) node.store.on('create', fault)
    expect((await node.submit(buildSaga('a', 2, memory))).ack).toBe('memory')
    await fixture.untilStatus('a', 'succeeded')
    expect(fixture.services.listCalls('a')).toHaveLength(2)
    expect(node.seen.named('memory-ack-lost')).toEqual([])
  })

  it('A submit with ack memory that meets other content under its gid is lost, counted and named', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    const gate = new Gate()
    one.store.on('create', heldBefore(gate))
    await one.submit(buildSaga('a', 2, { ...memory, ...OTHER }))
    await two.submit(buildSaga('a'))
    gate.open()
    await fixture.time.flush()
    expect(one.seen.named('memory-ack-lost')).toMatchObject([
      { level: 'error', gid: 'a', detail: 'other-content' },
    ])
    expect(fixture.services.calls.every(({ node }) => node === 'node-2')).toBe(true)
  })

  it('A submit with ack memory is not lost when a durable submit of the same content shared it', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('create', (apply) => heldBefore(gate)(() => refused(apply)))
    const durable = watched(readCode(node.submit(buildSaga('a'))))
    expect((await node.submit(buildSaga('a', 2, memory))).ack).toBe('memory')
    gate.open()
    await fixture.untilStatus('a', 'succeeded')
    expect(['accepted', 'SAGA_NOT_ACCEPTED']).toContain(durable.value)
  })

  it('A submit with ack memory is compared with those queued here', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('create', heldBefore(gate))
    await node.submit(buildSaga('a', 2, memory))
    expect((await node.submit(buildSaga('a', 2, memory))).ack).toBe('memory')
    const other = watched(readCode(node.submit(buildSaga('a', 2, { ...memory, ...OTHER }))))
    await fixture.time.flush()
    gate.open()
    await fixture.time.flush()
    expect(other.value).toBe('SAGA_GID_CONFLICT')
    expect(node.store.count('create')).toBe(1)
  })

  it('The queue of submits with ack memory is bounded', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ memoryAckMax: 2 })
    const gate = new Gate()
    node.store.on('create', heldBefore(gate), { times: 3 })
    for (const gid of ['a', 'b']) await node.submit(buildSaga(gid, 2, memory))
    expect(await readCode(node.submit(buildSaga('c', 2, memory)))).toBe('SAGA_OVER_CAPACITY')
    const durable = watched(readCode(node.submit(buildSaga('d'))))
    gate.open()
    await fixture.untilStatus('d', 'succeeded')
    expect(durable.value).toBe('accepted')
    expect(await fixture.rows()).toBe(3)
  })

  it('A submit with ack memory and a wait is durable', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const view = await node.submit(buildSaga('a', 2, memory), { waitMs: 1_000 })
    expect(view).toMatchObject({ ack: 'durable', status: 'succeeded' })
  })

  it('Submits with ack memory are flushed by a close', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    node.store.on('create', refused, { times: 3 })
    await node.submit(buildSaga('a', 2, memory))
    const closed = watched(node.engine.close())
    await fixture.time.until('closed', () => closed.isSettled, 8_000)
    expect(await fixture.rows()).toBe(1)
    expect(node.seen.named('memory-ack-lost')).toEqual([])
    await (await fixture.node()).engine.health()
    await fixture.untilStatus('a', 'succeeded')
  })

  it('A slow store flushes submits with ack memory during a close, which uses its time for that first', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('create', heldBefore(gate))
    await node.submit(buildSaga('a', 2, memory))
    const closed = watched(node.engine.close())
    await fixture.time.advance(3_900)
    expect(closed.isSettled).toBe(false)
    gate.open()
    await fixture.time.until('closed', () => closed.isSettled, 8_000)
    expect(await fixture.rows()).toBe(1)
    expect(node.seen.named('accept-given-up')).toEqual([])
  })

  it('A submit with ack memory that a close cannot flush is counted and named', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    node.store.on('create', refused, { times: 1_000 })
    await node.submit(buildSaga('a', 2, memory))
    const closed = watched(node.engine.close())
    await fixture.time.until('closed', () => closed.isSettled, 8_000)
    await fixture.time.advance(5_000)
    expect(node.seen.named('accept-given-up')).toMatchObject([{ gid: 'a' }])
    expect(node.seen.named('memory-ack-lost')).toMatchObject([{ gid: 'a' }])
    expect(node.clock.timers).toBe(0)
  })
})
