import { StoreUnavailableError } from '@counterstep/core'
import { describe, expect, it } from 'vitest'
import { Fixture, type TestNode } from '../support/fixture.ts'

const GONE = new StoreUnavailableError('the server cannot be reached', { applied: 'no' })

async function listNodes(node: TestNode): Promise<readonly string[]> {
  return (await node.engine.overview()).nodes.map(({ id, state }) => `${id} ${state}`)
}

async function runSaga(fixture: Fixture, node: TestNode, gid: string): Promise<void> {
  await node.submit({ gid, name: 'transfer', branches: [{ action: 'http://bank.test/debit' }] })
  await fixture.untilStatus(gid, 'succeeded')
}

describe('the nodes of a store', () => {
  it('Each shows the counts of all, and says of how many nodes', async () => {
    const fixture = new Fixture()
    const one = await fixture.node({ isTold: true })
    const two = await fixture.node({ isTold: true })
    await runSaga(fixture, one, 'a')
    await runSaga(fixture, two, 'b')
    await runSaga(fixture, two, 'c')
    await fixture.time.advance(15_000)
    await fixture.time.advance(15_000)
    for (const node of [one, two]) {
      const services = await node.engine.services()
      expect(services.nodes).toBe(2)
      expect(services.items).toMatchObject([{ service: 'bank.test', outcomes: { success: 3 } }])
      const overview = await node.engine.overview()
      expect(overview.minutes.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(3)
      expect((await node.engine.names()).items).toMatchObject([{ name: 'transfer' }])
    }
    expect(await listNodes(two)).toEqual(['node-2 up', 'node-1 up'])
  })

  it('A node that is killed is gone after 45 s and is forgotten after an hour; one that stops is not shown', async () => {
    const fixture = new Fixture()
    const one = await fixture.node({ isTold: true })
    const two = await fixture.node({ isTold: true })
    const three = await fixture.node({ isTold: true })
    await fixture.time.advance(15_000)
    expect(await listNodes(one)).toEqual(['node-1 up', 'node-2 up', 'node-3 up'])
    two.kill()
    const closing = three.engine.close()
    await fixture.time.advance(20_000)
    await closing
    expect(await listNodes(one)).toEqual(['node-1 up', 'node-2 up'])
    await fixture.time.advance(30_000)
    expect(await listNodes(one)).toEqual(['node-1 up', 'node-2 gone'])
    await fixture.time.advance(3_600_000)
    expect(await listNodes(one)).toEqual(['node-1 up'])
    expect(await fixture.store.readDocuments('nodes')).toHaveLength(1)
  })

  it('While the store is away the overview shows what it read last, and says so, and nothing breaks', async () => {
    const fixture = new Fixture()
    const one = await fixture.node({ isTold: true })
    await fixture.node({ isTold: true })
    await fixture.time.advance(15_000)
    const before = await one.engine.overview()
    expect(before.store.state).toBe('up')
    const outage = one.store.on('any', () => Promise.reject(GONE), { times: Number.POSITIVE_INFINITY })
    await fixture.time.advance(120_000)
    const away = await one.engine.overview()
    expect(away.store).toMatchObject({ state: 'away', asOf: before.store.asOf })
    expect(away.unfinished).toEqual(before.unfinished)
    expect(await listNodes(one)).toEqual(['node-1 up', 'node-2 up'])
    outage.remove()
    await fixture.time.advance(20_000)
    expect((await one.engine.overview()).store).toMatchObject({ state: 'up' })
    expect(one.seen.named('node-report-failed')).toEqual([])
  })

  it('A node whose document was removed, or written by an answer that was lost, writes it again', async () => {
    const fixture = new Fixture()
    const one = await fixture.node({ isTold: true })
    const [document] = await fixture.store.readDocuments('nodes')
    await fixture.store.removeDocument({
      category: 'nodes',
      key: 'node-1',
      expectedVersion: document?.version ?? 0,
    })
    await fixture.time.advance(15_000)
    expect(await fixture.store.readDocuments('nodes')).toHaveLength(1)
    one.store.on('write-document', async (apply) => {
      await apply()
      throw new StoreUnavailableError('the answer was lost', { applied: 'unknown' })
    })
    await fixture.time.advance(30_000)
    const [later] = await fixture.store.readDocuments('nodes')
    expect(fixture.time.now - (later?.updatedAt ?? 0)).toBeLessThan(15_001)
  })

  it('A document of another version is passed over', async () => {
    const fixture = new Fixture()
    const write = { category: 'nodes', key: 'new', text: '{"format":9}', expectedVersion: 0, writeId: 'w' }
    await fixture.store.writeDocument(write)
    const one = await fixture.node({ isTold: true })
    expect(await listNodes(one)).toEqual(['node-1 up'])
  })

  it('A node of a store that no other node shares writes no document', async () => {
    const fixture = new Fixture()
    const node = fixture.idleNode({ isTold: false })
    await node.engine.start()
    await fixture.time.advance(60_000)
    expect(node.store.calls.map(({ verb }) => verb)).not.toContain('write-document')
  })
})
