import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { heldBefore } from './support/fault-store.ts'
import { Fixture, type TestNode } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import { answered, buildRegistration, buildTcc, preparedTcc, register } from './support/prepared.ts'
import { buildBranch, readCode, watched } from './support/sagas.ts'

const OPERATOR = { by: { via: 'api' }, reason: 'it is repaired by hand' } as const

/** Prepares a TCC whose row has 810 KB, and takes 25 places. */
async function prepareLarge(fixture: Fixture, node: TestNode, gid: string): Promise<void> {
  await preparedTcc(fixture, node, gid)
  for (const id of ['c', 'd', 'e', 'f']) await register(node, gid, id, { payload: 'x'.repeat(200 * 1_024) })
}

function flood(node: TestNode, gid: string, caller: string, requests: number) {
  return Array.from({ length: requests }, (_, n) =>
    watched(node.engine.registerBranch(gid as Gid, buildRegistration(`flood-${n}`), caller)),
  )
}

function countReads(node: TestNode): number {
  return node.store.calls.filter(({ verb }) => verb === 'read').length
}

describe('S40: commands on a large transaction', () => {
  it('take turns, and what does not come to its turn in time is refused and stored nothing', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await prepareLarge(fixture, node, 't')
    const asked = flood(node, 't', 'key flood', 80)
    await fixture.time.flush()
    expect(asked.filter(({ isSettled }) => isSettled)).toHaveLength(4)
    const reads = countReads(node)
    await fixture.time.advance(100)
    // A request that waits for its turn has read nothing, once it is known that the transaction is large.
    flood(node, 't', 'key flood', 100)
    await fixture.time.flush()
    expect(countReads(node)).toBe(reads)
    await fixture.time.advance(2_500)
    const done = asked.filter(({ value }) => value !== undefined)
    // Four at once, and then four in 240 ms.
    expect(done.length).toBeLessThanOrEqual(4 * (1 + 2_000 / 240))
    expect(done.length).toBeGreaterThan(24)
    for (const { error } of asked.filter(({ value }) => value === undefined))
      expect(error).toMatchObject({ code: 'SAGA_OVER_CAPACITY' })
    const view = await node.get('t')
    expect(view?.branches).toHaveLength(6 + done.length)
  })

  it('keep no other caller waiting, nor an abort of the same one, nor one that names a small transaction', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    for (const gid of ['t', 'u', 'v']) await prepareLarge(fixture, node, gid)
    await preparedTcc(fixture, node, 'small')
    flood(node, 't', 'key flood', 80)
    await fixture.time.flush()
    const small = node.engine.registerBranch('small' as Gid, buildRegistration('g'), 'key flood')
    expect((await small).branches).toHaveLength(3)
    const aborts = [
      watched(node.engine.abort('u' as Gid, { caller: 'key flood' })),
      watched(node.engine.abort('v' as Gid, { caller: 'key other' })),
    ]
    await fixture.time.advance(300)
    for (const { value } of aborts) expect(value?.status).toBe('aborting')
  })

  it('are given by an operator at once', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await prepareLarge(fixture, node, 't')
    flood(node, 't', 'key flood', 80)
    await fixture.time.flush()
    expect((await node.engine.stop('t' as Gid, OPERATOR)).status).toBe('stopped')
  })

  it('take turns also while it runs here', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const aborts = []
    for (let n = 0; n < 8; n++) {
      const gid = `saga-${n}` as Gid
      fixture.services.defer(gid, 'b', 'action')
      await node.submit({ gid, branches: [buildBranch(gid, 'b', { payload: 'x'.repeat(200 * 1_024) })] })
      aborts.push(() => watched(node.engine.abort(gid, { caller: 'key flood' })))
    }
    const asked = aborts.map((abort) => abort())
    await fixture.time.flush()
    expect(asked.filter(({ isSettled }) => isSettled)).toHaveLength(4)
    await fixture.time.advance(200)
    expect(asked.filter(({ value }) => value !== undefined)).toHaveLength(8)
  })

  it('give their places back though the store hangs', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await prepareLarge(fixture, node, 't')
    const outage = node.store.on('update', heldBefore(new Gate()), { times: Number.POSITIVE_INFINITY })
    const hanging = flood(node, 't', 'key flood', 4)
    await fixture.time.advance(4_000)
    for (const { error } of hanging) expect(error).toMatchObject({ code: 'SAGA_STORE_UNAVAILABLE' })
    outage.remove()
    const late = node.engine.registerBranch('t' as Gid, buildRegistration('late'), 'key flood')
    expect(await readCode(late)).toBe('accepted')
  })

  it('are not the requests of a host without callers', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await prepareLarge(fixture, node, 't')
    for (let n = 0; n < 20; n++) await register(node, 't', `more-${n}`)
    expect((await node.get('t'))?.branches).toHaveLength(26)
  })

  it('read it in turns, too, where another dialect asks', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await prepareLarge(fixture, node, 't')
    const reads = Array.from({ length: 8 }, () => watched(node.engine.read('t' as Gid, 'key flood')))
    await fixture.time.flush()
    expect(reads.filter(({ isSettled }) => isSettled)).toHaveLength(4)
    expect((await node.engine.read('t' as Gid))?.gid).toBe('t')
  })

  it('take turns, too, where a submit of few bytes repeats it', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await prepareLarge(fixture, node, 't')
    const repeats = Array.from({ length: 80 }, () =>
      watched(node.engine.submit(buildTcc('t'), { caller: 'key flood' })),
    )
    await fixture.time.flush()
    expect(repeats.filter(({ isSettled }) => isSettled)).toHaveLength(4)
    await fixture.time.advance(2_500)
    const done = repeats.filter(({ value }) => value !== undefined)
    expect(done.length).toBeLessThanOrEqual(4 * (1 + 2_000 / 240))
    // It stands, so no caller is told that nothing was stored.
    for (const { error } of repeats.filter(({ value }) => value === undefined))
      expect(error).toMatchObject({ code: 'SAGA_OUTCOME_UNKNOWN' })
  })

  it('rest as long where they are refused', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await prepareLarge(fixture, node, 't')
    await node.engine.stop('t' as Gid, OPERATOR)
    const asked = Array.from({ length: 80 }, () =>
      watched(node.engine.abort('t' as Gid, { caller: 'key flood' })),
    )
    await fixture.time.flush()
    const refused = asked.filter(({ isSettled }) => isSettled)
    expect(refused).toHaveLength(4)
    for (const { error } of refused) expect(error).toMatchObject({ code: 'SAGA_ALREADY_FINAL' })
  })

  it('rest for the size that it has grown to', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await preparedTcc(fixture, node, 't')
    for (const [id, characters] of [
      ['c', 40],
      ['d', 20],
      ['e', 200],
      ['f', 200],
      ['g', 200],
      ['h', 160],
    ] as const) {
      const payload = 'x'.repeat(characters * 1_024)
      await answered(
        fixture,
        node.engine.registerBranch('t' as Gid, buildRegistration(id, { payload }), 'key a'),
      )
    }
    await fixture.time.advance(1_000)
    const asked = flood(node, 't', 'key flood', 80)
    await fixture.time.advance(2_500)
    expect(asked.filter(({ value }) => value !== undefined).length).toBeLessThanOrEqual(4 * (1 + 2_000 / 240))
  })

  it('are few at once, too, while it is not known how large the transactions are', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const gids = Array.from({ length: 200 }, (_, n) => `t-${n}`)
    for (const gid of gids) await preparedTcc(fixture, node, gid)
    const gate = new Gate()
    const held = node.store.on('read', heldBefore(gate), { times: Number.POSITIVE_INFINITY })
    const reads = countReads(node)
    const asked = gids.map((gid) => watched(node.engine.signal(gid as Gid, 'paid', { id: 'a' }, 'key flood')))
    await fixture.time.flush()
    expect(countReads(node) - reads).toBe(128)
    held.remove()
    gate.open()
    await fixture.time.until('all are answered', () => asked.every(({ isSettled }) => isSettled))
    expect(countReads(node) - reads).toBe(200)
  })

  it('take turns, too, where a submit repeats one that runs here', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ isShared: false })
    const gid = 't' as Gid
    fixture.services.defer(gid, 'b', 'action')
    const saga = { gid, branches: [buildBranch(gid, 'b', { payload: 'x'.repeat(200 * 1_024) })] }
    await node.submit(saga)
    const repeats = Array.from({ length: 80 }, () =>
      watched(node.engine.submit(saga, { caller: 'key flood' })),
    )
    await fixture.time.flush()
    expect(repeats.filter(({ isSettled }) => isSettled)).toHaveLength(4)
  })
})
