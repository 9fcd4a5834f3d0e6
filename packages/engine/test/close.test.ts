import { describe, expect, it } from 'vitest'
import { heldAnswer, heldBefore, refused } from './support/fault-store.ts'
import { Fixture, type TestNode } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import type { Answer } from './support/participants.ts'
import { buildSaga, readCode, watched } from './support/sagas.ts'

async function closed(fixture: Fixture, node: TestNode, limitMs = 8_000): Promise<number> {
  const startedAt = fixture.time.now
  const closing = watched(node.engine.close(limitMs))
  await fixture.time.until('closed', () => closing.isSettled, limitMs + 1_000)
  expect(closing.error).toBeUndefined()
  return fixture.time.now - startedAt
}

describe('close', () => {
  it('Closing an idle engine is over at once and leaves no timer', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await node.submit(buildSaga('a'), { waitMs: 100 })
    expect(await closed(fixture, node)).toBe(0)
    await fixture.time.advance(5_000)
    expect(node.clock.timers).toBe(0)
    expect(node.engine.health()).toMatchObject({ ready: false, reason: 'stopping' })
  })

  it('Two calls of close resolve together', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const call = fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const closings = [watched(node.engine.close()), watched(node.engine.close())]
    await fixture.time.advance(1_000)
    expect(closings.map(({ isSettled }) => isSettled)).toEqual([false, false])
    call.answer('success')
    await fixture.time.flush()
    expect(closings.map(({ isSettled }) => isSettled)).toEqual([true, true])
  })

  it('A closing engine refuses new work at once', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const closing = watched(node.engine.close())
    expect(await readCode(node.submit(buildSaga('b')))).toBe('SAGA_STOPPING')
    expect(node.seen.refusals).toEqual(['SAGA_STOPPING'])
    await fixture.time.until('closed', () => closing.isSettled)
    expect(await fixture.rows()).toBe(1)
  })

  it('A closing engine lets calls end, starts no new ones, and gives the saga back with its list of sent actions', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const call = fixture.services.defer('a', '02', 'action')
    await node.submit(buildSaga('a', 4))
    await fixture.time.advance(100)
    const closing = watched(node.engine.close())
    await fixture.time.advance(3_000)
    expect(closing.isSettled).toBe(false)
    call.answer('success')
    await fixture.time.flush()
    expect(closing.isSettled).toBe(true)
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action'])
    const row = await fixture.row('a')
    expect(row).toMatchObject({ owned: false, sentList: 'released', status: 'submitted' })
    expect(row.dueAt).toBeLessThanOrEqual(fixture.time.now)
  })

  it('A second engine goes on at once after a close, and compensates only sent actions', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    const call = fixture.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a', 4))
    const closing = watched(one.engine.close())
    await fixture.time.flush()
    call.answer('success')
    await fixture.time.flush()
    expect(closing.isSettled).toBe(true)
    fixture.services.script('a', '03', 'action', 'failure')
    await fixture.untilStatus('a', 'failed', 1_100)
    expect(two.seen.claims).toEqual([1])
    expect(fixture.services.listCalls('a').slice(3)).toEqual([
      '03 compensate',
      '02 compensate',
      '01 compensate',
    ])
  })

  it('A close gives sagas with hanging calls back within the limit, with these calls recorded as sent', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    fixture.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a', 4))
    await fixture.time.advance(100)
    expect(await closed(fixture, one)).toBeLessThanOrEqual(8_000)
    fixture.services.script('a', '02', 'action', 'failure')
    await fixture.untilStatus('a', 'failed', 1_100)
    expect(two.seen.claims).toEqual([1])
    expect(fixture.services.listCalls('a').slice(3)).toEqual(['02 compensate', '01 compensate'])
  })

  it('A late answer changes nothing after its saga was given back', async () => {
    const fixture = new Fixture()
    const [one] = [await fixture.node(), await fixture.node()]
    const call = fixture.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a'))
    await closed(fixture, one)
    await fixture.untilStatus('a', 'succeeded', 2_000)
    const before = await fixture.row('a')
    call.answer('failure')
    await fixture.time.advance(20_000)
    expect(await fixture.row('a')).toEqual(before)
  })

  it('A close finishes sagas that end meanwhile, and answers the waiting callers', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const call = fixture.services.defer('a', '02', 'action')
    const other = fixture.services.defer('b', '01', 'action')
    const waited = [
      watched(node.submit(buildSaga('a'), { waitMs: 60_000 })),
      watched(node.submit(buildSaga('b'), { waitMs: 60_000 })),
    ]
    await fixture.time.flush()
    const closing = watched(node.engine.close())
    await fixture.time.flush()
    call.answer('success')
    other.answer('success')
    await fixture.time.until('closed', () => closing.isSettled)
    await fixture.time.flush()
    expect(waited.map(({ value }) => value?.status)).toEqual(['succeeded', 'submitted'])
  })

  it('A close releases each of many sagas', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    fixture.services.otherwise = async (): Promise<Answer> => {
      await fixture.time.delay(300)
      return 'success'
    }
    for (let n = 0; n < 200; n++) await one.submit(buildSaga(`s${n}`, 5))
    await fixture.time.advance(500)
    expect(await closed(fixture, one)).toBeLessThanOrEqual(500)
    const list = await fixture.store.list({ limit: 200 })
    expect(list.items.every(({ dueAt }) => dueAt <= fixture.time.now)).toBe(true)
    await fixture.time.until('all are final', async () => (await fixture.unfinished()) === 0, 5_000)
    expect(two.seen.claims.reduce((sum, count) => sum + count, 0)).toBe(200)
    for (let n = 0; n < 200; n++) expect(fixture.services.listEffects(`s${n}`)).toHaveLength(5)
    // No call was made twice, because the calls had ended and their answers were saved.
    expect(fixture.services.calls).toHaveLength(1_000)
  })

  it('A close with a store that refuses every call is over within the limit, and nothing runs after it', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ leaseMs: 3_000 })
    fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const comeBack = node.store.goDown(refused)
    expect(await closed(fixture, node)).toBeLessThanOrEqual(8_000)
    await fixture.time.advance(5_000)
    expect(node.clock.timers).toBe(0)
    const calls = node.store.calls.length
    await fixture.time.advance(60_000)
    expect(node.store.calls).toHaveLength(calls)
    comeBack()
    await fixture.node()
    await fixture.untilStatus('a', 'succeeded')
  })

  it('A close with a store that hangs is over within the limit', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const gate = new Gate()
    node.store.on('any', heldBefore(gate), { times: Number.POSITIVE_INFINITY })
    await fixture.time.advance(1_500)
    expect(await closed(fixture, node)).toBeLessThanOrEqual(8_000)
  })

  it('A claim that is answered during a close is given back at once', async () => {
    const fixture = new Fixture()
    const one = fixture.idleNode()
    await one.submit(buildSaga('a', 2, { delayMs: 3_000 }))
    one.kill()
    const node = await fixture.node()
    const gate = new Gate()
    await fixture.time.advance(2_500)
    node.store.on('claim-due', heldAnswer(gate))
    await fixture.time.advance(1_000)
    const closing = watched(node.engine.close())
    await fixture.time.advance(3_000)
    gate.open()
    await fixture.time.until('closed', () => closing.isSettled)
    await fixture.time.advance(1_000)
    expect(fixture.services.calls).toEqual([])
    await fixture.node()
    await fixture.untilStatus('a', 'succeeded', 10_000)
  })

  it('An accept that the store applies after the close starts nothing here, and is claimed after its lease', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ leaseMs: 3_000 })
    const gate = new Gate()
    node.store.on('create', heldBefore(gate))
    const submitted = watched(readCode(node.submit(buildSaga('a'))))
    await fixture.time.flush()
    await closed(fixture, node)
    await fixture.time.advance(1_000)
    expect(submitted.value).toBe('SAGA_OUTCOME_UNKNOWN')
    const comeBack = node.store.on('update', refused, { times: Number.POSITIVE_INFINITY })
    gate.open()
    await fixture.time.advance(1_000)
    expect([await fixture.status('a'), fixture.services.calls.length]).toEqual(['submitted', 0])
    await fixture.time.advance(5_000)
    expect(node.clock.timers).toBe(0)
    comeBack.remove()
    await fixture.node()
    await fixture.untilStatus('a', 'succeeded')
  })

  it('A bug in one accept does not keep the other sagas from being given back', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const gate = new Gate()
    node.store.on('create', async () => {
      await gate.pass()
      throw new TypeError('a bug in the driver')
    })
    const submitted = watched(node.submit(buildSaga('b')))
    await fixture.time.flush()
    const closing = watched(node.engine.close())
    await fixture.time.flush()
    gate.open()
    await fixture.time.until('closed', () => closing.isSettled)
    expect([closing.error, submitted.error]).toEqual([undefined, expect.any(TypeError)])
    expect((await fixture.row('a')).owned).toBe(false)
  })
})
