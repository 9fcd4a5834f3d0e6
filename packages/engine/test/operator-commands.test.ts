import type { Gid, OpRequestView } from '@counterstep/protocol'
import { isCounterstepError } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import type { Given } from '../src/engine-api.ts'
import { lostAfter } from './support/fault-store.ts'
import { Fixture, type TestNode } from './support/fixture.ts'
import { preparedTcc } from './support/prepared.ts'
import { buildParallel, buildSaga, readCode, watched } from './support/sagas.ts'

const GID = 'a' as Gid
const given = (change: Partial<Given> = {}): Given => ({
  by: { via: 'api', key: { id: 'k1', name: 'ops' } },
  reason: 'the bank is down',
  ...change,
})

/** A saga whose first action has failed so often that its row rests unowned. */
async function rest(fixture: Fixture, gid = 'a'): Promise<TestNode> {
  fixture.services.otherwise = ({ branchId }) => (branchId === '01' ? 'unknown' : 'success')
  const node = await fixture.node()
  await node.submit(buildSaga(gid))
  await fixture.time.until('it rests', async () => !(await fixture.row(gid)).owned)
  return node
}

describe('a pause', () => {
  it('lets no call start on any node until the resume on another one', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    const first = fixture.services.defer('a', '01', 'action')
    await one.submit(buildSaga('a'))
    const view = await one.engine.pause(GID, {}, given())
    expect(view).toMatchObject({ status: 'submitted', paused: { by: { key: { name: 'ops' } } } })
    first.answer('success')
    await fixture.time.advance(60_000)
    expect(fixture.services.listCalls('a')).toEqual(['01 action'])
    expect(await fixture.row('a')).toMatchObject({ owned: false, marks: ['paused'], attention: false })
    expect(await readCode(two.engine.retry(GID, given()))).toBe('SAGA_PAUSED')
    await two.engine.resume(GID, given())
    await fixture.untilStatus('a', 'succeeded')
    expect((await one.get('a'))?.trail?.map(({ command }) => command)).toEqual(['pause', 'resume'])
  })

  it('of another node is learned within a third of the lease', async () => {
    const fixture = new Fixture()
    const settings = { leaseMs: 9_000 }
    const [one, two] = [await fixture.node(settings), await fixture.node(settings)]
    const calls = [fixture.services.defer('a', '01', 'action'), fixture.services.defer('a', '02', 'action')]
    await one.submit(buildSaga('a', 3))
    await two.engine.pause(GID, {}, given())
    await fixture.time.advance(3_100)
    for (const call of calls) call.answer('success')
    await fixture.time.advance(30_000)
    expect(fixture.services.listCalls('a')).toEqual(['01 action'])
    expect((await one.get('a'))?.branches[0]?.ops[0]?.state).toBe('succeeded')
  })

  it('ends by itself, on whatever node claims the row then', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await node.submit(buildSaga('a', 1, { delayMs: 10_000 }))
    await node.engine.pause(GID, { until: fixture.time.now + 60_000 }, given())
    await fixture.time.advance(59_000)
    expect(fixture.services.listCalls('a')).toEqual([])
    await fixture.untilStatus('a', 'succeeded')
  })
})

describe('the end by a command', () => {
  it('is counted once where the row rests, and by the node that runs it elsewhere', async () => {
    const fixture = new Fixture()
    const one = await rest(fixture, 'a')
    const two = await rest(fixture, 'b')
    const other = await fixture.node()
    const countEnds = () => [one, two, other].flatMap(({ seen }) => seen.finishes)
    await other.engine.stop(GID, given({ commandId: 'stop' }))
    await other.engine.stop(GID, given({ commandId: 'stop' }))
    expect(countEnds()).toEqual(['stopped'])
    await other.engine.skip('b' as Gid, '01', 'action', { doneBy: 'service' }, given())
    await fixture.untilStatus('b', 'succeeded')
    expect(countEnds().sort()).toEqual(['stopped', 'succeeded'])
    const call = fixture.services.defer('c', '01', 'action')
    await one.submit(buildSaga('c'))
    await other.engine.stop('c' as Gid, given())
    call.answer('success')
    await fixture.time.advance(30_000)
    expect(countEnds().sort()).toEqual(['stopped', 'stopped', 'succeeded'])
  })
})

describe('a skip', () => {
  it('of a row at rest goes on at once on the node where it arrives', async () => {
    const fixture = new Fixture()
    await rest(fixture)
    const other = await fixture.node()
    const view = await other.engine.skip(GID, '01', 'action', { doneBy: 'service' }, given())
    expect(view.branches[0]?.ops[0]).toMatchObject({ state: 'succeeded', byHand: { doneBy: 'service' } })
    await fixture.untilStatus('a', 'succeeded')
    expect((await fixture.row('a')).marks).toEqual(['by-hand'])
  })

  it('with an answer that is nested too deep is refused, and changes nothing', async () => {
    const fixture = new Fixture()
    await rest(fixture)
    const node = await fixture.node()
    const answer = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    const skip = async () => node.engine.skip(GID, '01', 'action', { doneBy: 'hand', answer }, given())
    await expect(skip()).rejects.toMatchObject({
      faults: [{ code: 'SAGA_PAYLOAD_TOO_DEEP', path: '/answer' }],
    })
    expect((await fixture.row('a')).marks ?? []).toEqual([])
  })

  it('waits for a call that ends soon', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const call = fixture.services.defer('a', '01', 'action')
    fixture.services.otherwise = () => 'unknown'
    await node.submit(buildSaga('a'))
    const skipped = watched(node.engine.skip(GID, '01', 'action', { doneBy: 'service' }, given()))
    await fixture.time.advance(1_000)
    expect(skipped.isSettled).toBe(false)
    call.answer('unknown')
    await fixture.time.until('skipped', () => skipped.isSettled)
    expect(skipped.value?.branches[0]?.ops[0]?.byHand).toBeDefined()
  })

  it('is refused when the call does not end in 5 s, and changes nothing', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a'))
    const skipped = watched(readCode(node.engine.skip(GID, '01', 'action', { doneBy: 'hand' }, given())))
    await fixture.time.advance(4_000)
    expect(skipped.isSettled).toBe(false)
    await fixture.time.until('refused', () => skipped.isSettled)
    expect(skipped.value).toBe('SAGA_OP_BUSY')
    expect((await fixture.row('a')).progress).not.toContain('trail')
  })

  it('on a node that does not run the transaction needs a pause first', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    fixture.services.otherwise = ({ branchId }) => (branchId === '01' ? 'unknown' : 'success')
    fixture.services.defer('a', '02', 'action')
    await one.submit(buildParallel('a', 2))
    const busy = watched(readCode(two.engine.skip(GID, '01', 'action', { doneBy: 'service' }, given())))
    await fixture.time.until('refused', () => busy.isSettled)
    expect(busy.value).toBe('SAGA_OP_BUSY')
  })

  it('whose answer was lost is the same command when it is sent again', async () => {
    const fixture = new Fixture()
    await rest(fixture)
    const node = await fixture.node()
    node.store.on('update', lostAfter)
    const once = given({ commandId: 'kim-1' })
    const skip = () => node.engine.skip(GID, '01', 'action', { doneBy: 'service' }, once)
    const first = watched(skip())
    await fixture.time.until('answered', () => first.isSettled)
    await fixture.untilStatus('a', 'succeeded')
    expect((await skip()).status).toBe('succeeded')
    expect((await node.get('a'))?.trail).toMatchObject([{ id: 'kim-1', reason: 'the bank is down' }])
    const other = node.engine.stop(GID, once)
    expect(await readCode(other)).toBe('SAGA_COMMAND_CONFLICT')
  })
})

describe('an edit', () => {
  it('changes what the next call gets, and neither the definition nor the digest', async () => {
    const fixture = new Fixture()
    await rest(fixture)
    const node = await fixture.node()
    const before = await fixture.row('a')
    const seen: string[] = []
    fixture.services.onArrival = ({ op, branchId, url, body, headers, timeoutMs }) =>
      seen.push(`${branchId} ${op} ${url} ${body} ${JSON.stringify(headers)} ${timeoutMs}`)
    fixture.services.otherwise = () => 'success'
    const body = {
      url: 'http://new.test/pay',
      payload: { amount: 2 },
      headers: { 'x-a': 'b' },
      timeoutMs: 700,
    }
    const confirmed = given({ confirm: 'no-call-took-effect' })
    const view = await node.engine.edit(GID, '01', 'action', body, confirmed)
    expect(view.branches[0]?.ops[0]?.edited).toBe(true)
    await fixture.untilStatus('a', 'succeeded')
    expect(seen[0]).toBe('01 action http://new.test/pay {"amount":2} {"x-a":"b"} 700')
    const { definition, digest } = await fixture.row('a')
    expect([definition, digest]).toEqual([before.definition, before.digest])
    const request = JSON.parse((await node.engine.showRequest(GID)) ?? '')
    expect(request.ops[0]).toMatchObject({ url: 'http://new.test/pay', body: '{"amount":2}', edited: true })
    expect(request.submit).toMatchObject({ branches: [{ id: '01', payload: { amount: 1 } }, { id: '02' }] })
  })

  it('reaches the compensation of a saga that hands on no values', async () => {
    const fixture = new Fixture()
    await rest(fixture)
    const node = await fixture.node()
    const body = { payload: { amount: 2 }, headers: { 'x-a': 'b' } }
    await node.engine.edit(GID, '01', 'action', body, given({ confirm: 'no-call-took-effect' }))
    const undone: string[] = []
    fixture.services.onArrival = ({ op, body, headers }) => {
      if (op === 'compensate') undone.push(`${body} ${JSON.stringify(headers)}`)
    }
    fixture.services.otherwise = ({ branchId, op }) =>
      branchId === '02' && op === 'action' ? 'failure' : 'success'
    await fixture.untilStatus('a', 'failed')
    expect(undone.at(-1)).toBe('{"amount":2} {"x-a":"b"}')
    const { ops } = JSON.parse((await node.engine.showRequest(GID)) ?? '')
    const shown = ops.find(({ branchId, op }: OpRequestView) => branchId === '01' && op === 'compensate')
    expect(shown).toMatchObject({ body: '{"amount":2}', headers: { 'x-a': 'b' } })
  })

  it('is checked like a submit, and needs its confirmation', async () => {
    const fixture = new Fixture()
    await rest(fixture)
    const node = await fixture.node()
    const edit = (body: unknown, change: Partial<Given> = {}) =>
      readCode(node.engine.edit(GID, '01', 'action', body, given(change)))
    expect(await edit({ url: 'ftp://x' })).toBe('SAGA_URL_INVALID')
    expect(await edit({ payload: 1, body: 'x' })).toBe('SAGA_INVALID')
    expect(await edit({ headers: { host: 'x' } })).toBe('SAGA_HEADER_INVALID')
    expect(await edit({ retry: { limit: 0 } })).toBe('SAGA_RETRY_INVALID')
    expect(await edit({ timeoutMs: 0 })).toBe('SAGA_TIMEOUT_INVALID')
    expect(await edit({ speed: 1 })).toBe('SAGA_UNKNOWN_FIELD')
    expect(await edit({})).toBe('SAGA_INVALID')
    expect(await edit({ url: 'http://new.test/' })).toBe('SAGA_CONFIRMATION_REQUIRED')
    expect(await edit({ headers: {} }, { reason: ' ' })).toBe('SAGA_REASON_REQUIRED')
    expect(await edit({ headers: {} })).toBe('accepted')
  })
})

describe('a command of an operator', () => {
  it('is logged with its giver, once', async () => {
    const fixture = new Fixture()
    await rest(fixture)
    const node = await fixture.node()
    const reason = 'x'.repeat(300)
    await node.engine.retryOp(GID, '01', 'action', given({ commandId: 'kim-2', reason }))
    await node.engine.retryOp(GID, '01', 'action', given({ commandId: 'kim-2', reason }))
    const [event, ...others] = node.seen.named('operator-command')
    expect(others).toEqual([])
    expect(event).toMatchObject({
      gid: 'a',
      fields: {
        command: 'retry-op',
        op: '01 action',
        commandId: 'kim-2',
        via: 'api',
        key: 'k1',
        keyName: 'ops',
        reason: 'x'.repeat(256),
      },
    })
  })

  it('A stop of an operator needs a reason, and a wrong field is named', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await node.submit(buildSaga('a', 1, { delayMs: 60_000 }))
    expect(await readCode(node.engine.stop(GID, { by: { via: 'local' } }))).toBe('SAGA_REASON_REQUIRED')
    const refused: unknown = await node.engine.retry(GID, given({ commandId: 'a b' })).catch((error) => error)
    expect(isCounterstepError(refused) && 'faults' in refused && refused.faults).toMatchObject([
      { path: '/commandId' },
    ])
    expect((await node.engine.stop(GID, given())).status).toBe('stopped')
  })

  it('The abort of a client leaves no trail, and that of an operator does', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    for (const gid of ['a', 'b']) await preparedTcc(fixture, node, gid)
    await node.engine.abort('a' as Gid)
    await node.engine.abort('b' as Gid, { given: given() })
    expect(await fixture.row('a')).toMatchObject({ format: 2 })
    expect((await fixture.row('a')).progress).not.toContain('trail')
    expect((await node.get('b'))?.trail).toMatchObject([{ command: 'abort', from: 'prepared' }])
  })
})

describe('a preview', () => {
  it('shows the calls that follow, and its plan is refused once something else would', async () => {
    const fixture = new Fixture()
    await rest(fixture)
    const node = await fixture.node()
    const plan = await node.engine.preview(GID, { command: 'abort' })
    expect(plan).toMatchObject({
      exact: true,
      steps: [[{ branchId: '01', op: 'compensate', ran: 'maybe' }]],
      waitsFor: ['bank.test'],
      ends: 'failed',
      needs: [],
    })
    expect(await node.engine.preview(GID, { command: 'stop' })).toMatchObject({ needs: ['reason'] })
    const skip = { command: 'skip', op: { branchId: '02', op: 'action' } } as const
    expect(await node.engine.preview(GID, skip)).toMatchObject({
      steps: [],
      refusal: { code: 'SAGA_OP_NOT_DUE' },
    })
    await node.engine.skip(GID, '01', 'action', { doneBy: 'service' }, given())
    await fixture.untilStatus('a', 'succeeded')
    const late = node.engine.abort(GID, { given: given({ planId: plan.planId }) })
    expect(await readCode(late)).toBe('SAGA_ALREADY_FINAL')
  })

  it('A command with a plan that holds is given, and with another one is refused', async () => {
    const fixture = new Fixture()
    await rest(fixture)
    const node = await fixture.node()
    const { planId } = await node.engine.preview(GID, { command: 'abort' })
    const wrong = node.engine.abort(GID, { given: given({ planId: 'abc1' }) })
    expect(await readCode(wrong)).toBe('SAGA_PLAN_CHANGED')
    const view = await node.engine.abort(GID, { given: given({ planId }) })
    expect(view.status).toBe('aborting')
  })
})
