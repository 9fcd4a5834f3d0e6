import { describe, expect, it } from 'vitest'
import { Bed } from './support/bed.ts'
import { buildSaga, readCode } from './support/sagas.ts'

async function shortNode() {
  const bed = new Bed()
  const node = await bed.node()
  const room = { isShort: false }
  Object.defineProperty(node.store, 'isShortOfRoom', { get: () => room.isShort })
  return { bed, node, room }
}

describe('a store that is short of room', () => {
  it('A store without room takes no new transaction of any kind and stores nothing', async () => {
    const { bed, node, room } = await shortNode()
    room.isShort = true
    expect(await readCode(node.submit(buildSaga('a')))).toBe('SAGA_STORE_FULL')
    expect(await readCode(node.submit({ ...buildSaga('b'), ack: 'memory' }))).toBe('SAGA_STORE_FULL')
    expect(await readCode(node.submit(buildSaga('c'), { waitMs: 1_000 }))).toBe('SAGA_STORE_FULL')
    expect(await readCode(node.submit({ gid: 'd', kind: 'tcc' }))).toBe('SAGA_STORE_FULL')
    await bed.time.advance(1_000)
    expect(await bed.rows()).toBe(0)
    expect(node.seen.refusals).toContain('SAGA_STORE_FULL')
  })

  it('A store without room saves and finishes running transactions, and takes commands', async () => {
    const { bed, node, room } = await shortNode()
    const call = bed.services.defer('a', '02', 'action')
    await node.submit(buildSaga('a'))
    await node.submit({ gid: 'b', kind: 'tcc' })
    await bed.time.flush()
    room.isShort = true
    call.answer('success')
    await bed.untilStatus('a', 'succeeded')
    await node.command('abort', 'b')
    await bed.untilStatus('b', 'failed')
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
