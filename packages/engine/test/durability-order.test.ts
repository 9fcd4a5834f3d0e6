import { describe, expect, it } from 'vitest'
import { heldAnswer, heldBefore, isAbort, isFinish, lostAfter, refused } from './support/fault-store.ts'
import { Fixture } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import { buildSaga, readCode, watched } from './support/sagas.ts'

describe('what is not durable is not acted on', () => {
  it.each([
    ['before the store has it', heldBefore],
    ['before the store has answered', heldAnswer],
  ])('no branch is called %s', async (_, held) => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('create', held(gate))
    const submitted = watched(node.submit(buildSaga('a')))
    await fixture.time.advance(2_000)
    expect(fixture.services.calls).toEqual([])
    expect(submitted.isSettled).toBe(false)
    gate.open()
    await fixture.untilStatus('a', 'succeeded')
    expect(submitted.value?.status).toBe('submitted')
  })

  it.each([
    ['before the store has it', heldBefore],
    ['before the store has answered', heldAnswer],
  ])('no compensation is sent %s', async (_, held) => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('update', held(gate), { when: isAbort })
    fixture.services.script('a', '02', 'action', 'failure')
    await node.submit(buildSaga('a'))
    await fixture.time.advance(3_000)
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action'])
    // The stored state is durable, so it may be shown though the store's answer is not there yet.
    expect((await node.get('a'))?.status).toBe(await fixture.status('a'))
    gate.open()
    await fixture.untilStatus('a', 'failed')
    expect(fixture.services.listCalls('a').slice(2)).toEqual(['02 compensate', '01 compensate'])
  })

  it.each([
    ['succeeded', 'success'],
    ['failed', 'failure'],
  ] as const)('No caller sees %s before the finish is durable', async (status, result) => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('update', heldBefore(gate), { when: isFinish })
    fixture.services.script('a', '02', 'action', result)
    const waited = watched(node.submit(buildSaga('a'), { waitMs: 30_000 }))
    const resubmitted = watched(node.submit(buildSaga('a'), { waitMs: 30_000 }))
    await fixture.time.until('the finish is being saved', () => gate.waiting === 1)
    await fixture.time.advance(2_000)
    const shown = await node.get('a')
    expect(shown?.status).toBe(status === 'failed' ? 'aborting' : 'submitted')
    expect(shown).not.toHaveProperty('finishedAt')
    expect([waited.isSettled, resubmitted.isSettled]).toEqual([false, false])
    expect(node.seen.finishes).toEqual([])
    gate.open()
    await fixture.time.flush()
    expect([waited.value?.status, resubmitted.value?.status]).toEqual([status, status])
    expect((await node.get('a'))?.status).toBe(status)
    expect(node.seen.finishes).toEqual([status])
  })

  it('A wait that ends during the save of the finish is answered with the durable state', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('update', heldBefore(gate), { when: isFinish })
    const waited = watched(node.submit(buildSaga('a'), { waitMs: 500 }))
    await fixture.time.advance(500)
    expect(waited.value?.status).toBe('submitted')
    gate.open()
    await fixture.untilStatus('a', 'succeeded')
  })

  it('A command is answered after it is durable', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gate = new Gate()
    node.store.on('update', heldAnswer(gate), { when: isAbort })
    const call = fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const aborted = watched(node.command('abort', 'a'))
    await fixture.time.advance(1_000)
    expect(aborted.isSettled).toBe(false)
    gate.open()
    await fixture.time.flush()
    expect(aborted.value).toMatchObject({ status: 'aborting', abort: { cause: 'requested' } })
    call.answer('success')
    await fixture.untilStatus('a', 'failed')
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
  })
})

describe('a write without an answer', () => {
  it.each([
    ['applied, answer lost', lostAfter],
    ['certainly not applied', refused],
  ])('is sent again as it was until it is definite (%s)', async (_, fault) => {
    const fixture = new Fixture()
    const node = await fixture.node()
    node.store.on('update', fault, { times: 5 })
    fixture.services.script('a', '02', 'action', 'failure')
    await node.submit(buildSaga('a'))
    await fixture.untilStatus('a', 'failed')
    const [first, ...repeats] = node.store.updates.slice(0, 6)
    for (const repeat of repeats) expect(repeat).toEqual(first)
    expect(node.store.updates[6]?.writeId).not.toBe(first?.writeId)
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
    expect(fixture.services.listCalls('a')).toHaveLength(4)
  })

  it('A write without an answer is sent again less and less often, but at least every two seconds', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ leaseMs: 600_000, pollMs: 600_000 })
    node.store.on('update', refused, { times: 12 })
    await node.submit(buildSaga('a', 1))
    await fixture.untilStatus('a', 'succeeded')
    const at = node.store.calls.flatMap((call) => (call.verb === 'update' ? [call.at] : []))
    const waits = at.slice(1).map((instant, position) => instant - (at[position] ?? 0))
    expect(waits).toEqual([20, 40, 80, 160, 320, 640, 1_280, 2_000, 2_000, 2_000, 2_000, 2_000])
  })

  it('A write without an answer delays no other transaction', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    node.store.on('update', refused, { times: 1_000, when: ({ gid }: { gid: string }) => gid === 'a' })
    await node.submit(buildSaga('a'))
    expect((await node.submit(buildSaga('b'), { waitMs: 1_000 })).status).toBe('succeeded')
    expect(await fixture.status('a')).toBe('submitted')
  })

  it('Transactions that were acknowledged before an outage of the store are finished after it', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    for (let n = 0; n < 20; n++) {
      fixture.services.script(`s${n}`, '02', 'action', n % 2 === 0 ? 'success' : 'failure')
      await node.submit(buildSaga(`s${n}`))
    }
    const comeBack = node.store.goDown(lostAfter)
    const late = watched(readCode(node.submit(buildSaga('late'))))
    await fixture.time.advance(4_000)
    expect(late.value).toBe('SAGA_OUTCOME_UNKNOWN')
    expect(node.engine.health()).toMatchObject({ ready: false, reason: 'store-unavailable' })
    comeBack()
    await fixture.time.until(
      'all are final',
      async () =>
        (await fixture.store.stats()).unfinished.submitted +
          (await fixture.store.stats()).unfinished.aborting ===
        0,
    )
    for (let n = 0; n < 20; n++)
      expect(await fixture.status(`s${n}`)).toBe(n % 2 === 0 ? 'succeeded' : 'failed')
    await fixture.time.advance(5_000)
    expect(node.engine.health().ready).toBe(true)
  })

  it.each([
    ['refuses', refused],
    ['loses the answers', lostAfter],
  ])('a store that %s for a while in the middle of a saga changes nothing but the time', async (_, fault) => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const second = fixture.services.defer('a', '02', 'action')
    await node.submit(buildSaga('a', 3))
    await fixture.time.flush()
    const comeBack = node.store.goDown(fault)
    second.answer('failure')
    await fixture.time.advance(7_000)
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action'])
    comeBack()
    await fixture.untilStatus('a', 'failed')
    expect(fixture.services.listCalls('a').slice(2)).toEqual(['02 compensate', '01 compensate'])
  })
})
