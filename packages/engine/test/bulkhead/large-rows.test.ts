import type { SagaSubmitRequest } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { Fixture, type TestNode } from '../support/fixture.ts'
import { Gate } from '../support/gate.ts'
import type { Answer } from '../support/participants.ts'

const LARGE = 60
const MINUTE_MS = 60_000
/** A large saga takes 11 places, and rows come back 5 ms apart for each of them: 18 rows a second. */
const TURNS_A_MINUTE = MINUTE_MS / (11 * 5)

function smallSaga(gid: string, origin: string): SagaSubmitRequest {
  const retry = { initialMs: 900, capMs: 900, factor: 1, jitter: 0 }
  return { gid, retry, branches: [{ action: `${origin}/${gid}` }] }
}

/** Builds a saga whose definition has 322 KiB. */
function largeSaga(gid: string, origin: string): SagaSubmitRequest {
  const payload = 'x'.repeat(161 * 1024)
  const branches = ['a', 'b'].map((path) => ({ action: `${origin}/${path}`, payload }))
  return { ...smallSaga(gid, origin), branches }
}

/** Builds a small saga that keeps four values of 64 KiB, and then asks a branch that is not ready. */
function sagaWithLargeValues(gid: string, origin: string): SagaSubmitRequest {
  const ids = ['a', 'b', 'c', 'd']
  const producers = ids.map((id) => ({ id, action: `${origin}/${id}`, after: [] }))
  const waiting = { id: 'wait', after: ids, action: `${origin}/wait` }
  return {
    ...smallSaga(gid, origin),
    branches: [...producers, waiting],
    output: ids.map((id) => ({ $from: id })),
  }
}

/** Builds a small saga that keeps one value of 64 KiB, and has a request of 254 KiB for each of thirty branches at once. */
function sagaWithLargeRequests(gid: string, origin: string): SagaSubmitRequest {
  const value = { $from: 'a' }
  const waiting = Array.from({ length: 30 }, (_, n) => ({
    id: `wait-${n}`,
    after: ['a'],
    action: `${origin}/wait`,
    template: [value, value, value, value],
    timeoutMs: 900_000,
  }))
  return { ...smallSaga(gid, origin), branches: [{ id: 'a', action: 'http://good.test/a' }, ...waiting] }
}

/** Builds a small saga of a hundred branches. Each of them keeps what its attempts were answered. */
function sagaOfManyBranches(gid: string, origin: string): SagaSubmitRequest {
  const branches = Array.from({ length: 100 }, (_, n) => ({ id: `b${n}`, action: `${origin}/b`, after: [] }))
  return { ...smallSaga(gid, origin), branches }
}

/** Builds a saga that waits again and again, and then calls its branch. */
function sagaOfTimers(gid: string, timers: number, payload: string): SagaSubmitRequest {
  const waits = Array.from({ length: timers }, (_, n) => ({ id: `w${n}`, wait: { ms: 900 } }))
  return {
    ...smallSaga(gid, 'http://poor.test'),
    branches: [...waits, { action: 'http://poor.test/end', payload }],
  }
}

/** Submits one saga after the other, and counts those that find a place. */
async function countAccepted(
  {
    fixture,
    node,
    apartMs,
  }: { readonly fixture: Fixture; readonly node: TestNode; readonly apartMs: number },
  sagas: readonly SagaSubmitRequest[],
): Promise<number> {
  let accepted = 0
  for (const saga of sagas) {
    await node.submit(saga).then(
      () => accepted++,
      () => undefined,
    )
    await fixture.time.advance(apartMs)
  }
  return accepted
}

describe('large transactions', () => {
  it('S40: Small sagas that have kept large values take places and turns like large ones', async () => {
    const fixture = new Fixture()
    const body = JSON.stringify('x'.repeat(65_000))
    fixture.services.otherwise = ({ branchId }) =>
      branchId === 'wait' ? 'ongoing' : { result: 'success', statusCode: 200, body }
    const node = await fixture.node({ inFlightMax: 1_000 })
    for (let n = 0; n < LARGE; n++) await node.submit(sagaWithLargeValues(`values-${n}`, 'http://poor.test'))
    // A row that fails more often is given back, and counted by its length when it is claimed.
    await fixture.time.advance(4_500)
    const waits = fixture.services.calls.filter(({ branchId }) => branchId === 'wait').length
    // Each has 9 places: one for its definition, and eight for its values.
    expect(waits - LARGE).toBeLessThan(1.1 * (4_500 / (9 * 5)))
  })

  it('S40: Small sagas take the places of large ones while the branch that uses their values hangs', async () => {
    const fixture = new Fixture()
    const gate = new Gate()
    const body = JSON.stringify('x'.repeat(65_000))
    fixture.services.otherwise = async ({ branchId }): Promise<Answer> => {
      if (branchId === 'wait') await gate.pass()
      return { result: 'success', statusCode: 200, body }
    }
    const node = await fixture.node({ inFlightMax: 1_000, timeoutMsMax: 900_000 })
    const sagas = Array.from({ length: 200 }, (_, n) => ({
      ...sagaWithLargeValues(`values-${n}`, 'http://poor.test'),
      timeoutMs: 900_000,
    }))
    const accepted = await countAccepted({ fixture, node, apartMs: 10 }, sagas)
    expect(accepted).toBeGreaterThan(10)
    expect(accepted).toBeLessThan(1_000 / 8)
    gate.open()
    for (let n = 0; n < accepted; n++) await fixture.untilStatus(`values-${n}`, 'succeeded', 400_000)
  })

  it('S40: Large requests that small sagas build from one value take places while they are under way', async () => {
    const fixture = new Fixture()
    const gate = new Gate()
    const body = JSON.stringify('x'.repeat(65_000))
    let bytes = 0
    fixture.services.otherwise = async ({ branchId, body: request }): Promise<Answer> => {
      bytes += request.length
      if (branchId.startsWith('wait')) await gate.pass()
      return { result: 'success', statusCode: 200, body }
    }
    const node = await fixture.node({ inFlightMax: 400, timeoutMsMax: 900_000 })
    const sagas = Array.from({ length: 12 }, (_, n) =>
      sagaWithLargeRequests(`requests-${n}`, 'http://poor.test'),
    )
    const accepted = await countAccepted({ fixture, node, apartMs: 10 }, sagas)
    expect(accepted).toBeGreaterThan(0)
    expect(bytes).toBeGreaterThan(1_000_000)
    expect(bytes).toBeLessThan(400 * 32 * 1024)
    await node.submit(smallSaga('small', 'http://other.test'))
    await fixture.untilStatus('small', 'succeeded', 1_000)
    gate.open()
    for (let n = 0; n < accepted; n++) await fixture.untilStatus(`requests-${n}`, 'succeeded', 400_000)
  })

  it('S40: Small sagas take places and turns like large ones when long answers of their attempts make their rows long', async () => {
    const fixture = new Fixture()
    const excerpt = '"'.repeat(1_024)
    const asked = new Map<string, number>()
    // Answers that differ are kept beside each other.
    fixture.services.otherwise = ({ gid, branchId }): Answer => {
      const attempt = (asked.get(gid + branchId) ?? 0) + 1
      asked.set(gid + branchId, attempt)
      return { result: attempt % 2 === 0 ? 'ongoing' : 'unknown', statusCode: 500 + (attempt % 9), excerpt }
    }
    const node = await fixture.node({ inFlightMax: 1_000, parkAfterMs: 3_600_000 })
    const sagas = Array.from({ length: 100 }, (_, n) => sagaOfManyBranches(`grown-${n}`, 'http://poor.test'))
    const accepted = await countAccepted({ fixture, node, apartMs: 100 }, sagas)
    expect(accepted).toBeGreaterThan(20)
    expect(accepted).toBeLessThan(100)
    const before = fixture.services.calls.length
    await fixture.time.advance(10_000)
    // Without turns each of the hundred branches of a saga would be called every 900 ms.
    expect(fixture.services.calls.length - before).toBeLessThan(accepted * 100 * 5)
  })

  it('S40: Large sagas with short timers come back one after the other', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    // Such a saga takes 6 places.
    const payload = 'x'.repeat(180 * 1024)
    for (let n = 0; n < 2 * LARGE; n++) await node.submit(sagaOfTimers(`large-${n}`, 90, payload))
    await fixture.time.advance(10_000)
    const countClaims = () => node.seen.claims.reduce((sum, count) => sum + count, 0)
    const before = countClaims()
    await fixture.time.advance(20_000)
    expect(countClaims() - before).toBeLessThan(1.1 * (20_000 / (6 * 5)))
    await fixture.untilStatus('large-0', 'succeeded', 400_000)
  })

  it('S40: Claimed sagas that only wait leave room for the retries of others', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ recoveryInFlightMax: 200 })
    for (let n = 0; n < 600; n++) await node.submit(sagaOfTimers(`waits-${n}`, 90, ''))
    await fixture.time.advance(5_000)
    fixture.services.otherwise = () => ({ result: 'unknown', statusCode: 500 })
    const retry = { initialMs: 2_000, capMs: 2_000, factor: 1, jitter: 0 }
    await node.submit({ ...smallSaga('retried', 'http://other.test'), retry })
    await fixture.time.advance(10_000)
    const at = fixture.services.calls.filter(({ gid }) => gid === 'retried').map((call) => call.at)
    const latenessMs = at.slice(1).map((next, n) => next - (at[n] ?? 0) - 2_000)
    expect(latenessMs.length).toBeGreaterThan(3)
    expect(Math.max(...latenessMs)).toBeLessThan(100)
  })

  it('S40: Large sagas whose branch says not yet are called one after the other, and small ones as often as they ask', async () => {
    const fixture = new Fixture()
    fixture.services.otherwise = () => 'ongoing'
    const node = await fixture.node()
    for (let n = 0; n < LARGE; n++) await node.submit(largeSaga(`large-${n}`, `http://poor${n % 6}.test`))
    await node.submit(smallSaga('small', 'http://poor0.test'))
    await fixture.time.advance(10_000)
    const before = fixture.services.calls.length
    const smallBefore = fixture.services.listCalls('small').length
    await fixture.time.advance(MINUTE_MS)
    const small = fixture.services.listCalls('small').length - smallBefore
    const large = fixture.services.calls.length - before - small
    expect(small).toBeGreaterThanOrEqual(58)
    expect(large).toBeLessThan(1.1 * TURNS_A_MINUTE)
    expect(large).toBeGreaterThan(0.8 * TURNS_A_MINUTE)
  })

  it('S40: Large sagas that find no place come back one after the other, and all end once their target answers', async () => {
    const fixture = new Fixture()
    const gate = new Gate()
    fixture.services.otherwise = async ({ gid }): Promise<Answer> => {
      if (gid.startsWith('large')) await gate.pass()
      return 'success'
    }
    const node = await fixture.node({ recoveryInFlightMax: 100, timeoutMsMax: 900_000 })
    for (let n = 0; n < LARGE; n++) {
      const saga = { ...largeSaga(`large-${n}`, 'http://poor.test'), timeoutMs: 900_000, delayMs: 2_000 }
      await node.submit(saga)
    }
    // The target answers something every half second, so it counts as busy and not as one that hangs.
    const countClaims = () => node.seen.claims.reduce((sum, count) => sum + count, 0)
    let before = 0
    for (let n = 0; n < 140; n++) {
      if (n === 20) before = countClaims()
      await node.submit(smallSaga(`quick-${n}`, 'http://poor.test'))
      await fixture.time.advance(500)
    }
    expect(countClaims() - before).toBeLessThan(1.1 * TURNS_A_MINUTE)
    gate.open()
    for (let n = 0; n < LARGE; n++) await fixture.untilStatus(`large-${n}`, 'succeeded', 400_000)
  })
})
