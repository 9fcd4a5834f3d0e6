import { describe, expect, it } from 'vitest'
import { Fixture } from './support/fixture.ts'
import { buildSaga, readCode } from './support/sagas.ts'

async function shortNode() {
  const fixture = new Fixture()
  const node = await fixture.node()
  const room = { isShort: false }
  Object.defineProperty(node.store, 'isShortOfRoom', { get: () => room.isShort })
  return { fixture, node, room }
}

describe('a store that is short of room', () => {
  it('A store without room takes no new transaction of any kind and stores nothing', async () => {
    const { fixture, node, room } = await shortNode()
    room.isShort = true
    expect(await readCode(node.submit(buildSaga('a')))).toBe('SAGA_STORE_FULL')
    expect(await readCode(node.submit({ ...buildSaga('b'), ack: 'memory' }))).toBe('SAGA_STORE_FULL')
    expect(await readCode(node.submit(buildSaga('c'), { waitMs: 1_000 }))).toBe('SAGA_STORE_FULL')
    expect(await readCode(node.submit({ gid: 'd', kind: 'tcc' }))).toBe('SAGA_STORE_FULL')
    await fixture.time.advance(1_000)
    expect(await fixture.rows()).toBe(0)
    expect(node.seen.refusals).toContain('SAGA_STORE_FULL')
  })

  it('A store without room saves and finishes running transactions, and takes commands', async () => {
    const { fixture, node, room } = await shortNode()
    const call = fixture.services.defer('a', '02', 'action')
    await node.submit(buildSaga('a'))
    await node.submit({ gid: 'b', kind: 'tcc' })
    await fixture.time.flush()
    room.isShort = true
    call.answer('success')
    await fixture.untilStatus('a', 'succeeded')
    await node.command('abort', 'b')
    await fixture.untilStatus('b', 'failed')
  })

  it('A store without room is shown as the reason for refusals, and recovers by itself', async () => {
    const { node, room } = await shortNode()
    room.isShort = true
    expect(node.engine.health()).toMatchObject({ ready: false, reason: 'store-full' })
    room.isShort = false
    expect(node.engine.health()).toMatchObject({ ready: true })
    expect(await readCode(node.submit(buildSaga('a')))).toBe('accepted')
  })
})
