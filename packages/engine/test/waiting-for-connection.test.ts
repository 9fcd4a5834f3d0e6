import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { refused } from './support/fault-store.ts'
import { Fixture, type TestNode } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import { buildSaga } from './support/sagas.ts'

const LEASE = { leaseMs: 9_000, pollMs: 1_000 }
const BY_OPERATOR = { by: { via: 'local' }, reason: 'the bank asked' } as const
const GID = 'a' as Gid

async function startWaiting(deadlineMs?: number) {
  const fixture = new Fixture()
  const node = await fixture.node(LEASE)
  const connection = new Gate()
  fixture.services.connection = connection
  await node.submit({
    ...buildSaga('a'),
    timeoutMs: 60_000,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  })
  await fixture.time.flush()
  expect(connection.waiting).toBe(1)
  return { fixture, node, connection }
}

describe('A call that waits for a connection', () => {
  for (const { what, decide, status } of [
    {
      what: 'a stop',
      decide: (node: TestNode) => node.engine.stop(GID, BY_OPERATOR),
      status: 'stopped',
    },
    {
      what: 'a pause',
      decide: (node: TestNode) => node.engine.pause(GID, {}, BY_OPERATOR),
      status: 'submitted',
    },
    {
      what: 'an abort',
      decide: (node: TestNode) => node.engine.abort(GID, { caller: 'key shop' }),
      status: 'failed',
    },
  ] as const) {
    it(`is not sent after ${what}`, async () => {
      const { fixture, node, connection } = await startWaiting()
      await decide(node)
      connection.open()
      await fixture.untilStatus('a', status)
      await fixture.time.advance(30_000)
      expect(fixture.services.listCalls('a')).not.toContain('01 action')
    })
  }

  it('is not sent after the deadline', async () => {
    const { fixture, connection } = await startWaiting(20_000)
    await fixture.time.advance(20_000)
    connection.open()
    await fixture.untilStatus('a', 'failed')
    expect(fixture.services.listCalls('a')).not.toContain('01 action')
  })

  it('is not sent after the lease, and is made by the next owner', async () => {
    const { fixture, node, connection } = await startWaiting()
    const comeBack = node.store.goDown(refused)
    await fixture.time.advance(LEASE.leaseMs)
    connection.open()
    await fixture.time.advance(30_000)
    expect(fixture.services.listCalls('a')).toEqual([])
    comeBack()
    await fixture.untilStatus('a', 'succeeded')
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action'])
  })

  it('is sent when nothing came between', async () => {
    const { fixture, connection } = await startWaiting()
    connection.open()
    await fixture.untilStatus('a', 'succeeded')
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action'])
  })
})
