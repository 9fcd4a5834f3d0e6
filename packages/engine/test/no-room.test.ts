import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { heldBefore } from './support/fault-store.ts'
import { Fixture } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import { buildSaga, readCode, watched } from './support/sagas.ts'

type Room = 'SAGA_OVER_CAPACITY' | 'SAGA_TARGET_OVER_CAPACITY' | 'SAGA_STORE_FULL'

/** Another node has run `earlier` to its end. This one refuses every new transaction with `code`. */
async function fullNode(code: Room) {
  const fixture = new Fixture()
  const other = await fixture.node()
  await other.submit(buildSaga('earlier'))
  await fixture.untilStatus('earlier', 'succeeded')
  const node = await fixture.node({
    inFlightMax: code === 'SAGA_OVER_CAPACITY' ? 1 : 100,
    targetShare: code === 'SAGA_TARGET_OVER_CAPACITY' ? 0.01 : 1,
    readsAtOnceMax: 1,
  })
  fixture.services.defer('running', '01', 'action')
  await node.submit(buildSaga('running'))
  await fixture.time.flush()
  if (code === 'SAGA_STORE_FULL') Object.defineProperty(node.store, 'isShortOfRoom', { value: true })
  return { fixture, node }
}

const CODES: readonly Room[] = ['SAGA_OVER_CAPACITY', 'SAGA_TARGET_OVER_CAPACITY', 'SAGA_STORE_FULL']

describe.each(CODES)('a submit that would be refused with %s', (code) => {
  it('A submit without room is answered as a repeat where an earlier one has the same content', async () => {
    const { node } = await fullNode(code)
    expect(await node.submit(buildSaga('earlier'))).toMatchObject({ status: 'succeeded', ack: 'durable' })
    expect(await node.submit(buildSaga('earlier'), { waitMs: 1_000 })).toMatchObject({ status: 'succeeded' })
    expect(await node.submit(buildSaga('running'))).toMatchObject({ status: 'submitted' })
    expect(node.seen.refusals).toEqual([])
  })

  it('A submit without room is a conflict where an earlier one has other content', async () => {
    const { node } = await fullNode(code)
    expect(await readCode(node.submit(buildSaga('earlier', 3)))).toBe('SAGA_GID_CONFLICT')
  })

  it('A submit without room is refused and stores nothing where there is no earlier one', async () => {
    const { fixture, node } = await fullNode(code)
    expect(await readCode(node.submit(buildSaga('new')))).toBe(code)
    const { gid: _, ...nameless } = buildSaga('nameless')
    expect(await readCode(node.submit(nameless))).toBe(code)
    await fixture.time.advance(1_000)
    expect(await fixture.rows()).toBe(2)
  })

  it('A refusal says that an earlier submit may stand while there is no turn to read the row', async () => {
    const { fixture, node } = await fullNode(code)
    const gate = new Gate()
    const looks = node.store.count('read')
    node.store.on('read', heldBefore(gate))
    const first = watched(node.submit(buildSaga('earlier')))
    await fixture.time.flush()
    const refusal = watched(node.submit(buildSaga('earlier')))
    await fixture.time.flush()
    expect(refusal.error).toMatchObject({ code, message: expect.stringContaining('may stand: read it') })
    expect(node.store.count('read')).toBe(looks + 1)
    gate.open()
    await fixture.time.flush()
    expect(first.value).toMatchObject({ gid: 'earlier', status: 'succeeded' })
  })

  it('A refusal says that an earlier submit may stand while another reader has the next turn', async () => {
    const { fixture, node } = await fullNode(code)
    const gate = new Gate()
    node.store.on('read', heldBefore(gate))
    const readers = ['earlier', 'earlier'].map((gid) => watched(node.engine.show(gid as Gid)))
    await fixture.time.flush()
    const refusal = watched(node.submit(buildSaga('earlier')))
    await fixture.time.flush()
    expect(refusal.error).toMatchObject({ code, message: expect.stringContaining('may stand: read it') })
    gate.open()
    await fixture.time.flush()
    expect(readers.map(({ value }) => value?.gid)).toEqual(['earlier', 'earlier'])
  })

  it('A refusal says that an earlier submit may stand where the store does not answer in time', async () => {
    const { fixture, node } = await fullNode(code)
    const gate = new Gate()
    node.store.on('read', heldBefore(gate))
    const refusal = watched(node.submit(buildSaga('earlier')))
    await fixture.time.advance(60_000)
    expect(refusal.error).toMatchObject({ code, message: expect.stringContaining('may stand: read it') })
    gate.open()
  })

  it('A refusal says that an earlier submit may stand where its row is not known to be durable in time', async () => {
    const { fixture, node } = await fullNode(code)
    const gate = new Gate()
    node.store.on('settle', heldBefore(gate))
    const refusal = watched(node.submit(buildSaga('earlier')))
    await fixture.time.advance(60_000)
    expect(refusal.error).toMatchObject({ code, message: expect.stringContaining('may stand: read it') })
    gate.open()
  })
})
