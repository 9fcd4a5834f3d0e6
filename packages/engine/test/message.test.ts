import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { heldBefore } from './support/fault-store.ts'
import { Fixture } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import { abort, answered, buildMessage, submitPrepared } from './support/prepared.ts'
import { readCode, watched } from './support/sagas.ts'

const FAST = { leaseMs: 3_000, pollMs: 500 }
const DELIVERED = ['01 action', '02 action']

describe('a two-phase message', () => {
  it('A message is delivered in order after the submit, without a query-back', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    expect(await node.submit(buildMessage('m'))).toMatchObject({ kind: 'message', status: 'prepared' })
    expect((await answered(fixture, submitPrepared(node, 'm', 5_000))).status).toBe('succeeded')
    await fixture.time.advance(20_000)
    expect(fixture.services.listCalls('m')).toEqual(DELIVERED)
  })

  it('An abort drops a message, and no branch is called', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    await node.submit(buildMessage('m'))
    expect((await abort(node, 'm')).status).toBe('failed')
    await fixture.time.advance(20_000)
    expect(fixture.services.calls).toEqual([])
    expect(await readCode(submitPrepared(node, 'm'))).toBe('SAGA_NOT_PREPARED')
  })

  it('A message without a query-back is delivered at once', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    const view = await node.submit(buildMessage('m', 2, { check: undefined }), { waitMs: 5_000 })
    expect(view.status).toBe('succeeded')
    expect(fixture.services.listCalls('m')).toEqual(DELIVERED)
  })

  it('A message is not delivered before its delay, which counts from the accept', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    await node.submit(buildMessage('m', 1, { delayMs: 4_000 }))
    await submitPrepared(node, 'm')
    await fixture.time.advance(3_900)
    expect(fixture.services.calls).toEqual([])
    await fixture.untilStatus('m', 'succeeded', 1_500)
  })

  it('A concurrent message calls all branches at once', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    const calls = ['01', '02', '03'].map((id) => fixture.services.defer('m', id, 'action'))
    await node.submit(buildMessage('m', 3, { concurrent: true }))
    await submitPrepared(node, 'm')
    await fixture.time.until('all are called', () => fixture.services.inFlight === 3, 1_500)
    for (const call of calls) call.answer('success')
    await fixture.untilStatus('m', 'succeeded')
  })
})

describe('the query-back', () => {
  it.each([
    ['success', 'succeeded', ['00 msg', ...DELIVERED]],
    ['failure', 'failed', ['00 msg']],
  ] as const)('that says %s ends in %s', async (answer, status, calls) => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    fixture.services.script('m', '00', 'msg', answer)
    await node.submit(buildMessage('m'))
    await fixture.time.advance(4_900)
    expect(fixture.services.calls).toEqual([])
    await fixture.untilStatus('m', status, 2_000)
    expect(fixture.services.listCalls('m')).toEqual(calls)
    if (status === 'failed') expect((await node.get('m'))?.abort).toMatchObject({ cause: 'check-failed' })
  })

  it('A query-back that says neither yes nor no is sent again, and delivers nothing', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    fixture.services.otherwise = ({ op }) => (op === 'msg' ? 'unknown' : 'success')
    fixture.services.script('m', '00', 'msg', 'unknown', 'ongoing', 'unknown')
    await node.submit(buildMessage('m'))
    await fixture.time.advance(120_000)
    expect(new Set(fixture.services.listCalls('m'))).toEqual(new Set(['00 msg']))
    expect(fixture.services.calls.length).toBeGreaterThan(8)
    expect(await fixture.status('m')).toBe('prepared')
    fixture.services.otherwise = () => 'success'
    await fixture.untilStatus('m', 'succeeded', 70_000)
  })

  it('A query-back of a message that was given back is sent at once after a retry', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    fixture.services.otherwise = ({ op }) => (op === 'msg' ? 'unknown' : 'success')
    await node.submit(buildMessage('m'))
    await fixture.time.advance(60_000)
    expect((await fixture.row('m')).owned).toBe(false)
    const before = fixture.services.calls.length
    fixture.services.otherwise = () => 'success'
    await node.command('retry', 'm')
    await fixture.untilStatus('m', 'succeeded', 1_000)
    expect(fixture.services.listCalls('m').slice(before)).toEqual(['00 msg', ...DELIVERED])
  })

  it.each(['success', 'failure', 'unknown'] as const)(
    'in flight when the submit comes counts for nothing: %s',
    async (answer) => {
      const fixture = new Fixture()
      const [one, two] = [await fixture.node(FAST), fixture.idleNode(FAST)]
      const call = fixture.services.defer('m', '00', 'msg')
      await one.submit(buildMessage('m'))
      await fixture.time.until('it is asked', () => fixture.services.calls.length === 1)
      expect((await submitPrepared(two, 'm')).status).toBe('submitted')
      call.answer(answer)
      await fixture.untilStatus('m', 'succeeded', 10_000)
      expect(fixture.services.listCalls('m')).toEqual(['00 msg', ...DELIVERED])
    },
  )

  it('A query-back that says no while a submit becomes durable does not drop the message', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(FAST), fixture.idleNode(FAST)]
    fixture.services.script('m', '00', 'msg', 'failure')
    await one.submit(buildMessage('m'))
    const gate = new Gate()
    one.store.on('update', heldBefore(gate), {
      when: ({ status }: { status: string }) => status === 'failed',
    })
    await fixture.time.until('it drops it', () => gate.waiting === 1)
    await submitPrepared(two, 'm')
    gate.open()
    await fixture.untilStatus('m', 'succeeded', 10_000)
    expect(fixture.services.listCalls('m')).toEqual(['00 msg', ...DELIVERED])
  })

  it('The query-back is a GET without a body, under the id 00', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    const seen: unknown[] = []
    fixture.services.onArrival = (call) => seen.push(call)
    await node.submit(buildMessage('m', 1, { headers: { 'x-tenant': 'blue' } }))
    await fixture.untilStatus('m', 'succeeded', 10_000)
    expect(seen[0]).toMatchObject({
      gid: 'm',
      kind: 'message',
      branchId: '00',
      op: 'msg',
      method: 'GET',
      url: 'http://bank.test/query',
      body: '',
      headers: { 'x-tenant': 'blue' },
    })
    expect(seen[1]).toMatchObject({ branchId: '01', op: 'action', method: 'POST', body: '{}' })
  })
})

describe('a wait', () => {
  it('A wait for a submit on a node that does not run the message is answered with the end', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(FAST), fixture.idleNode(FAST)]
    await one.submit(buildMessage('m'))
    const waited = watched(submitPrepared(two, 'm', 30_000))
    await fixture.time.until('answered', () => waited.isSettled, 10_000)
    expect(waited.value?.status).toBe('succeeded')
  })

  it('A prepare does not wait, because the message waits for the same caller', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(FAST)
    const waited = watched(node.submit(buildMessage('m'), { waitMs: 30_000 }))
    await fixture.time.flush()
    expect(waited.value?.status).toBe('prepared')
  })
})

describe('after a crash', () => {
  it('Another node delivers after a crash of the node that stored the submit', async () => {
    const fixture = new Fixture()
    const one = fixture.idleNode(FAST)
    await one.submit(buildMessage('m'))
    await submitPrepared(one, 'm')
    one.kill()
    await fixture.node(FAST)
    await fixture.untilStatus('m', 'succeeded', 5_000)
    expect(fixture.services.listCalls('m')).toEqual(DELIVERED)
  })

  it('Another node repeats the query-back after a crash in the middle of it', async () => {
    const fixture = new Fixture()
    const one = await fixture.node(FAST)
    fixture.services.defer('m', '00', 'msg')
    await one.submit(buildMessage('m'))
    await fixture.time.until('it is asked', () => fixture.services.calls.length === 1)
    one.kill()
    await fixture.node(FAST)
    await fixture.untilStatus('m', 'succeeded', 10_000)
    expect(fixture.services.listCalls('m')).toEqual(['00 msg', '00 msg', ...DELIVERED])
  })

  it('A prepare that is sent again after a crash is the same message', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(FAST), await fixture.node(FAST)]
    await one.submit(buildMessage('m'))
    expect((await two.submit(buildMessage('m'))).status).toBe('prepared')
    expect(await readCode(two.submit(buildMessage('m', 3)))).toBe('SAGA_GID_CONFLICT')
    await answered(fixture, submitPrepared(two, 'm', 5_000))
    expect((await one.submit(buildMessage('m'))).status).toBe('succeeded')
    expect((await two.engine.read('m' as Gid))?.status).toBe('succeeded')
    expect(fixture.services.listCalls('m')).toEqual(DELIVERED)
  })
})
