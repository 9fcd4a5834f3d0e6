import { describe, expect, it } from 'vitest'
import { Bed, type TestNode } from './support/bed.ts'
import { heldAnswer, heldBefore, refused } from './support/fault-store.ts'
import { Gate } from './support/gate.ts'
import type { Answer } from './support/participants.ts'
import { buildSaga, readCode, watched } from './support/sagas.ts'

async function closed(bed: Bed, node: TestNode, limitMs = 8_000): Promise<number> {
  const startedAt = bed.time.now
  const closing = watched(node.engine.close(limitMs))
  await bed.time.until('closed', () => closing.isSettled, limitMs + 1_000)
  expect(closing.error).toBeUndefined()
  return bed.time.now - startedAt
}

describe('close', () => {
  it('Closing an idle engine is over at once and leaves no timer', async () => {
    const bed = new Bed()
    const node = await bed.node()
    await node.submit(buildSaga('a'), { waitMs: 100 })
    expect(await closed(bed, node)).toBe(0)
    await bed.time.advance(5_000)
    expect(node.clock.timers).toBe(0)
    expect(node.engine.health()).toMatchObject({ ready: false, reason: 'stopping' })
  })

  it('Two calls of close resolve together', async () => {
    const bed = new Bed()
    const node = await bed.node()
    const call = bed.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const closings = [watched(node.engine.close()), watched(node.engine.close())]
    await bed.time.advance(1_000)
    expect(closings.map(({ isSettled }) => isSettled)).toEqual([false, false])
    call.answer('success')
    await bed.time.flush()
    expect(closings.map(({ isSettled }) => isSettled)).toEqual([true, true])
  })

  it('A closing engine refuses new work at once', async () => {
    const bed = new Bed()
    const node = await bed.node()
    bed.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const closing = watched(node.engine.close())
    expect(await readCode(node.submit(buildSaga('b')))).toBe('SAGA_STOPPING')
    expect(node.seen.refusals).toEqual(['SAGA_STOPPING'])
    await bed.time.until('closed', () => closing.isSettled)
    expect(await bed.rows()).toBe(1)
  })

  it('A closing engine lets calls end, starts no new ones, and gives the saga back with its list of sent actions', async () => {
    const bed = new Bed()
    const node = await bed.node()
    const call = bed.services.defer('a', '02', 'action')
    await node.submit(buildSaga('a', 4))
    await bed.time.advance(100)
    const closing = watched(node.engine.close())
    await bed.time.advance(3_000)
    expect(closing.isSettled).toBe(false)
    call.answer('success')
    await bed.time.flush()
    expect(closing.isSettled).toBe(true)
    expect(bed.services.listCalls('a')).toEqual(['01 action', '02 action'])
    const row = await bed.row('a')
    expect(row).toMatchObject({ owned: false, sentList: 'released', status: 'submitted' })
    expect(row.dueAt).toBeLessThanOrEqual(bed.time.now)
  })

  it('A second engine goes on at once after a close, and compensates only sent actions', async () => {
    const bed = new Bed()
    const [one, two] = [await bed.node(), await bed.node()]
    const call = bed.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a', 4))
    const closing = watched(one.engine.close())
    await bed.time.flush()
    call.answer('success')
    await bed.time.flush()
    expect(closing.isSettled).toBe(true)
    bed.services.script('a', '03', 'action', 'failure')
    await bed.untilStatus('a', 'failed', 1_100)
    expect(two.seen.claims).toEqual([1])
    expect(bed.services.listCalls('a').slice(3)).toEqual(['03 compensate', '02 compensate', '01 compensate'])
  })

  it('A close gives sagas with hanging calls back within the limit, with these calls recorded as sent', async () => {
    const bed = new Bed()
    const [one, two] = [await bed.node(), await bed.node()]
    bed.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a', 4))
    await bed.time.advance(100)
    expect(await closed(bed, one)).toBeLessThanOrEqual(8_000)
    bed.services.script('a', '02', 'action', 'failure')
    await bed.untilStatus('a', 'failed', 1_100)
    expect(two.seen.claims).toEqual([1])
    expect(bed.services.listCalls('a').slice(3)).toEqual(['02 compensate', '01 compensate'])
  })

  it('A late answer changes nothing after its saga was given back', async () => {
    const bed = new Bed()
    const [one] = [await bed.node(), await bed.node()]
    const call = bed.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a'))
    await closed(bed, one)
    await bed.untilStatus('a', 'succeeded', 2_000)
    const before = await bed.row('a')
    call.answer('failure')
    await bed.time.advance(20_000)
    expect(await bed.row('a')).toEqual(before)
  })

  it('A close finishes sagas that end meanwhile, and answers the waiting callers', async () => {
    const bed = new Bed()
    const node = await bed.node()
    const call = bed.services.defer('a', '02', 'action')
    const other = bed.services.defer('b', '01', 'action')
    const waited = [
      watched(node.submit(buildSaga('a'), { waitMs: 60_000 })),
      watched(node.submit(buildSaga('b'), { waitMs: 60_000 })),
    ]
    await bed.time.flush()
    const closing = watched(node.engine.close())
    await bed.time.flush()
    call.answer('success')
    other.answer('success')
    await bed.time.until('closed', () => closing.isSettled)
    await bed.time.flush()
    expect(waited.map(({ value }) => value?.status)).toEqual(['succeeded', 'submitted'])
  })

  it('A close releases each of many sagas', async () => {
    const bed = new Bed()
    const [one, two] = [await bed.node(), await bed.node()]
    bed.services.otherwise = async (): Promise<Answer> => {
      await bed.time.delay(300)
      return 'success'
    }
    for (let n = 0; n < 200; n++) await one.submit(buildSaga(`s${n}`, 5))
    await bed.time.advance(500)
    expect(await closed(bed, one)).toBeLessThanOrEqual(500)
    const list = await bed.store.list({ limit: 200 })
    expect(list.items.every(({ dueAt }) => dueAt <= bed.time.now)).toBe(true)
    await bed.time.until('all are final', async () => (await bed.unfinished()) === 0, 5_000)
    expect(two.seen.claims.reduce((sum, count) => sum + count, 0)).toBe(200)
    for (let n = 0; n < 200; n++) expect(bed.services.listEffects(`s${n}`)).toHaveLength(5)
    // No call was made twice, because the calls had ended and their answers were saved.
    expect(bed.services.calls).toHaveLength(1_000)
  })

  it('A close with a store that refuses every call is over within the limit, and nothing runs after it', async () => {
    const bed = new Bed()
    const node = await bed.node({ leaseMs: 3_000 })
    bed.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const comeBack = node.store.goDown(refused)
    expect(await closed(bed, node)).toBeLessThanOrEqual(8_000)
    await bed.time.advance(5_000)
    expect(node.clock.timers).toBe(0)
    const calls = node.store.calls.length
    await bed.time.advance(60_000)
    expect(node.store.calls).toHaveLength(calls)
    comeBack()
    await bed.node()
    await bed.untilStatus('a', 'succeeded')
  })

  it('A close with a store that hangs is over within the limit', async () => {
    const bed = new Bed()
    const node = await bed.node()
    bed.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const gate = new Gate()
    node.store.on('any', heldBefore(gate), { times: Number.POSITIVE_INFINITY })
    await bed.time.advance(1_500)
    expect(await closed(bed, node)).toBeLessThanOrEqual(8_000)
  })

  it('A claim that is answered during a close is given back at once', async () => {
    const bed = new Bed()
    const one = bed.idleNode()
    await one.submit(buildSaga('a', 2, { delayMs: 3_000 }))
    one.kill()
    const node = await bed.node()
    const gate = new Gate()
    await bed.time.advance(2_500)
    node.store.on('claim-due', heldAnswer(gate))
    await bed.time.advance(1_000)
    const closing = watched(node.engine.close())
    await bed.time.advance(3_000)
    gate.open()
    await bed.time.until('closed', () => closing.isSettled)
    await bed.time.advance(1_000)
    expect(bed.services.calls).toEqual([])
    await bed.node()
    await bed.untilStatus('a', 'succeeded', 10_000)
  })

  it('An accept that the store applies after the close starts nothing here, and is claimed after its lease', async () => {
    const bed = new Bed()
    const node = await bed.node({ leaseMs: 3_000 })
    const gate = new Gate()
    node.store.on('create', heldBefore(gate))
    const submitted = watched(readCode(node.submit(buildSaga('a'))))
    await bed.time.flush()
    await closed(bed, node)
    await bed.time.advance(1_000)
    expect(submitted.value).toBe('SAGA_OUTCOME_UNKNOWN')
    const comeBack = node.store.on('update', refused, { times: Number.POSITIVE_INFINITY })
    gate.open()
    await bed.time.advance(1_000)
    expect([await bed.status('a'), bed.services.calls.length]).toEqual(['submitted', 0])
    await bed.time.advance(5_000)
    expect(node.clock.timers).toBe(0)
    comeBack.remove()
    await bed.node()
    await bed.untilStatus('a', 'succeeded')
  })

  it('A bug in one accept does not keep the other sagas from being given back', async () => {
    const bed = new Bed()
    const node = await bed.node()
    bed.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const gate = new Gate()
    node.store.on('create', async () => {
      await gate.pass()
      throw new TypeError('a bug in the driver')
    })
    const submitted = watched(node.submit(buildSaga('b')))
    await bed.time.flush()
    const closing = watched(node.engine.close())
    await bed.time.flush()
    gate.open()
    await bed.time.until('closed', () => closing.isSettled)
    expect([closing.error, submitted.error]).toEqual([undefined, expect.any(TypeError)])
    expect((await bed.row('a')).owned).toBe(false)
  })
})
