import type { Gid, TransactionRequestView } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { SHOWN_CHARACTERS_MAX } from '../src/operator/write-requests.ts'
import { Fixture, type TestNode } from './support/fixture.ts'
import { buildSaga } from './support/sagas.ts'

const GID = 'a' as Gid

async function readRequests(node: TestNode): Promise<TransactionRequestView> {
  return JSON.parse((await node.engine.showRequest(GID)) ?? '')
}

describe('a look at the requests', () => {
  it('S42: shows in short what is beyond its bound, for a small saga may hand one large value to each op', async () => {
    const fixture = new Fixture()
    fixture.services.otherwise = ({ branchId }) =>
      branchId === 'from' ? { result: 'success', body: JSON.stringify('"'.repeat(32_000)) } : 'unknown'
    const node = await fixture.node()
    const template = { x: { $from: 'from' } }
    const branches = Array.from({ length: 99 }, (_, n) => ({
      id: `b-${n}`,
      action: { url: `http://bank.test/${n}` },
      compensation: { url: `http://bank.test/undo/${n}`, template },
      headers: { 'x-a': 'b' },
      template,
    }))
    const from = { id: 'from', action: 'http://bank.test/from' }
    await node.submit({ gid: 'a', branches: [from, ...branches] })
    await fixture.time.advance(1_000)
    const text = (await node.engine.showRequest(GID)) ?? ''
    expect(text.length).toBeLessThan(1.1 * SHOWN_CHARACTERS_MAX)
    const { gid, kind, submit, ops } = JSON.parse(text) as TransactionRequestView
    expect([gid, kind, ops.length]).toEqual(['a', 'saga', 199])
    expect(submit).toHaveProperty('branches.99.template', { x: { $from: 'from', at: '' } })
    const whole = ops.filter(({ short }) => short === undefined)
    expect(ops.slice(0, whole.length)).toEqual(whole)
    expect(JSON.stringify(whole.slice(0, -1)).length).toBeLessThan(SHOWN_CHARACTERS_MAX)
    expect(JSON.stringify(whole).length).toBeGreaterThan(SHOWN_CHARACTERS_MAX)
    expect(JSON.parse(ops[1]?.body ?? '')).toEqual({ x: '"'.repeat(32_000) })
    expect(ops.at(-1)).toEqual({
      branchId: 'b-98',
      op: 'compensate',
      method: 'POST',
      url: 'http://bank.test/undo/98',
      body: '',
      contentType: 'application/json',
      headers: {},
      timeoutMs: expect.any(Number),
      short: true,
    })
  })

  it('leaves nothing out of a large saga that hands no values on', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const payload = 'x'.repeat(240_000)
    const branches = Array.from({ length: 4 }, (_, n) => ({
      action: `http://bank.test/${n}`,
      compensation: `http://bank.test/undo/${n}`,
      payload,
    }))
    await node.submit({ gid: 'a', branches })
    const { ops } = await readRequests(node)
    expect(ops.map(({ body }) => JSON.parse(body))).toEqual(Array.from({ length: 8 }, () => payload))
  })

  it('S42: rests for as long as it took to build them and to write them, many times over', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await node.submit(buildSaga('a'))
    await fixture.untilStatus('a', 'succeeded')
    const { progress, ...row } = await fixture.row('a')
    // Reading the text of this row takes 10 ms of the thread.
    const dear = {
      ...row,
      get progress() {
        fixture.time.now += 10
        return progress
      },
    }
    node.store.on('read', (async () => [dear]) as never)
    await node.engine.showRequest(GID)
    let isShown = false
    const second = node.engine.showRequest(GID).then(() => {
      isShown = true
    })
    await fixture.time.advance(39)
    expect(isShown).toBe(false)
    await fixture.time.advance(100)
    await second
    expect(isShown).toBe(true)
  })
})
