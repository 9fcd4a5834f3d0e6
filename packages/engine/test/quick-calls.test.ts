import type { BranchCaller } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { Fixture } from './support/fixture.ts'
import { FunctionNode } from './support/function-node.ts'
import { buildSaga, watched } from './support/sagas.ts'

const PLENTY_MS = 120_000
const QUICK = { quickCallMs: 2_000 }

function quickNode(fixture: Fixture, name: string): FunctionNode {
  return new FunctionNode(fixture, name, {}, undefined, QUICK)
}

/** Submits a saga whose first call never ends, and returns the node when its invocation has ended. */
async function submitHanging(fixture: Fixture, node: FunctionNode, gid: string, more: object = {}) {
  fixture.services.defer(gid, '01', 'action')
  const invoked = watched(
    node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga(gid, 2, more), { waitMs: 25_000 })),
  )
  await fixture.time.advance(2_100)
  return invoked
}

describe('S40: a call that hangs in a quick function', () => {
  it('A call is cut after quickCallMs, its caller is answered, and the saga is left to the slow function', async () => {
    const fixture = new Fixture()
    const node = quickNode(fixture, 'api')
    const invoked = await submitHanging(fixture, node, 'a', { timeoutMs: 60_000 })
    expect(invoked.value?.status).toBe('submitted')
    expect(node.looks).toEqual([{ gid: 'a', dueInMs: 0, isSlow: true }])
    expect(await fixture.row('a')).toMatchObject({ owned: false, status: 'submitted' })
  })

  it('A call that was cut is no failed attempt, so the limit of the saga does not end it', async () => {
    const fixture = new Fixture()
    const node = quickNode(fixture, 'api')
    await submitHanging(fixture, node, 'a', { timeoutMs: 60_000, retry: { limit: 1 } })
    const slow = new FunctionNode(fixture, 'slow')
    fixture.services.otherwise = () => fixture.time.delay(30_000).then(() => 'success')
    const looked = watched(slow.look('a', PLENTY_MS))
    await fixture.time.advance(61_000)
    expect(looked.value).toBe('final')
    expect(await fixture.status('a')).toBe('succeeded')
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '01 action', '02 action'])
  })

  it.each([
    [
      'A call that is cut before its connection stands is no failed attempt',
      'connect-timeout',
      60_000,
      false,
    ],
    ['A call that is cut while it waits for a place is no failed attempt', 'busy', 60_000, false],
    ['A call that finds no connection in a shorter time is a failed attempt', 'connect-timeout', 1_000, true],
    ['A call that finds no place at once is a failed attempt', 'busy', 1, true],
  ] as const)('%s', async (_title, error, takesMs, isFailed) => {
    const fixture = new Fixture()
    const clock = fixture.time.clock()
    const branches: BranchCaller = {
      call: ({ op, timeoutMs }) =>
        new Promise((resolve) => {
          const answer =
            op === 'action' ? { result: 'unknown' as const, error } : { result: 'success' as const }
          clock.after(Math.min(timeoutMs, takesMs), () => resolve(answer))
        }),
      close: async () => undefined,
    }
    const node = new FunctionNode(fixture, 'api', {}, undefined, { ...QUICK, branches })
    const saga = buildSaga('a', 1, { timeoutMs: 60_000, retry: { limit: 1 } })
    const invoked = watched(node.engine.during(PLENTY_MS, () => node.engine.submit(saga, { waitMs: 25_000 })))
    await fixture.time.advance(2_100)
    expect(invoked.value).toMatchObject(
      isFailed ? { abort: { cause: 'retry-limit' } } : { status: 'submitted' },
    )
    expect(node.looks).toEqual(isFailed ? expect.anything() : [{ gid: 'a', dueInMs: 0, isSlow: true }])
  })

  it('A target that has hung is not called again by the same environment, and others are', async () => {
    const fixture = new Fixture()
    const node = quickNode(fixture, 'api')
    await submitHanging(fixture, node, 'a')
    const calls = fixture.services.calls.length
    const again = await node.engine.during(PLENTY_MS, () =>
      node.engine.submit(buildSaga('b'), { waitMs: 25_000 }),
    )
    expect(again.status).toBe('submitted')
    expect(fixture.services.calls).toHaveLength(calls)
    expect(node.looks.slice(1)).toEqual([{ gid: 'b', dueInMs: 0, isSlow: true }])
    expect(await fixture.row('b')).toMatchObject({ owned: false, attention: false })
    const url = 'http://shop.test/c'
    const other = { gid: 'c', branches: [{ action: `${url}/action`, compensation: `${url}/compensate` }] }
    const done = await node.engine.during(PLENTY_MS, () => node.engine.submit(other, { waitMs: 25_000 }))
    expect(done.status).toBe('succeeded')
  })

  it('A target that has hung is tried again after a while', async () => {
    const fixture = new Fixture()
    const node = quickNode(fixture, 'api')
    await submitHanging(fixture, node, 'a')
    await fixture.time.advance(60_000)
    const again = await node.engine.during(PLENTY_MS, () =>
      node.engine.submit(buildSaga('b'), { waitMs: 25_000 }),
    )
    expect(again.status).toBe('succeeded')
  })

  it('A retry of a call that has hung is not made by another quick function either', async () => {
    const fixture = new Fixture()
    await submitHanging(fixture, quickNode(fixture, 'api'), 'a')
    const calls = fixture.services.calls.length
    const worker = quickNode(fixture, 'worker')
    expect(await worker.look('a', PLENTY_MS)).toBe('given-back')
    expect(fixture.services.calls).toHaveLength(calls)
    expect(worker.looks).toEqual([{ gid: 'a', dueInMs: 0, isSlow: true }])
  })

  it('A compensation and the actions beside it that hang are left to the slow function, too', async () => {
    const fixture = new Fixture()
    const node = quickNode(fixture, 'worker')
    fixture.services.script('a', '02', 'action', 'failure')
    fixture.services.defer('a', '02', 'compensate')
    const invoked = watched(node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a', 2))))
    await fixture.time.advance(2_100)
    expect(invoked.isSettled).toBe(true)
    expect(await fixture.row('a')).toMatchObject({ owned: false, status: 'aborting' })
    expect(node.looks).toEqual([{ gid: 'a', dueInMs: 0, isSlow: true }])
  })

  it('What an answer has told before the cut is kept', async () => {
    const fixture = new Fixture()
    const node = quickNode(fixture, 'api')
    fixture.services.defer('a', '02', 'action')
    const invoked = watched(node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a', 2))))
    await fixture.time.advance(2_100)
    expect(invoked.isSettled).toBe(true)
    const slow = new FunctionNode(fixture, 'slow')
    const looked = watched(slow.look('a', PLENTY_MS))
    await fixture.time.advance(1_000)
    expect(looked.value).toBe('final')
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action', '02 action'])
  })
})

describe('a wait in a quick function', () => {
  it('A caller does not wait for a saga that is delayed', async () => {
    const fixture = new Fixture()
    const node = quickNode(fixture, 'api')
    const invoked = watched(
      node.engine.during(PLENTY_MS, () =>
        node.engine.submit(buildSaga('a', 1, { delayMs: 10_000 }), { waitMs: 25_000 }),
      ),
    )
    await fixture.time.advance(100)
    expect(invoked.value?.status).toBe('submitted')
    expect(node.looks).toEqual([{ gid: 'a', dueInMs: expect.closeTo(10_000, -3) }])
  })

  it('A caller does not wait for a saga that another function runs', async () => {
    const fixture = new Fixture()
    const node = quickNode(fixture, 'api')
    await submitHanging(fixture, node, 'a')
    const slow = new FunctionNode(fixture, 'slow')
    fixture.services.defer('a', '01', 'action')
    void slow.look('a', PLENTY_MS)
    await fixture.time.advance(100)
    const again = watched(
      node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a', 2), { waitMs: 25_000 })),
    )
    await fixture.time.advance(100)
    expect(again.value?.status).toBe('submitted')
    const aborting = watched(
      node.engine.during(PLENTY_MS, () => node.engine.abort('a' as Gid, { waitMs: 25_000 })),
    )
    await fixture.time.advance(200)
    expect(aborting.value?.status).toBe('aborting')
  })

  it('A caller that aborts a saga which no function runs is told of its end', async () => {
    const fixture = new Fixture()
    const node = quickNode(fixture, 'api')
    fixture.services.script('a', '02', 'action', { result: 'unknown', retryAfterMs: 40_000 })
    await node.engine.during(PLENTY_MS, () => node.engine.submit(buildSaga('a')))
    const aborting = node.engine.during(PLENTY_MS, () => node.engine.abort('a' as Gid, { waitMs: 5_000 }))
    await fixture.time.advance(1_000)
    expect((await aborting).status).toBe('failed')
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
  })

  it('A request that takes longer than the runs is answered all the same', async () => {
    const fixture = new Fixture()
    const node = quickNode(fixture, 'api')
    const reading = watched(
      node.engine.during(PLENTY_MS, () => fixture.time.delay(10_000).then(() => 'read')),
    )
    await fixture.time.advance(10_100)
    expect(reading.value).toBe('read')
  })

  it('A saga that is accepted late is given back at once, with a wake-up', async () => {
    const fixture = new Fixture()
    const node = quickNode(fixture, 'api')
    const invoked = watched(
      node.engine.during(PLENTY_MS, async () => {
        await fixture.time.delay(5_000)
        return await node.engine.submit(buildSaga('a'), { waitMs: 25_000 })
      }),
    )
    await fixture.time.advance(5_200)
    expect(invoked.value?.status).toBe('submitted')
    expect(fixture.services.calls).toEqual([])
    expect(node.looks).toEqual([{ gid: 'a', dueInMs: 0 }])
  })
})

describe('a turn in a quick function', () => {
  it('A saga of many short calls leaves the api for the worker, and the worker for the slow function', async () => {
    const fixture = new Fixture()
    fixture.services.otherwise = () => fixture.time.delay(400).then(() => 'success')
    const api = quickNode(fixture, 'api')
    const submitted = watched(api.engine.during(PLENTY_MS, () => api.engine.submit(buildSaga('a', 12))))
    await fixture.time.advance(2_100)
    expect(submitted.isSettled).toBe(true)
    expect(api.looks).toEqual([{ gid: 'a', dueInMs: 0 }])
    const worker = quickNode(fixture, 'worker')
    const looked = watched(worker.look('a', PLENTY_MS))
    await fixture.time.advance(2_100)
    expect(looked.value).toBe('given-back')
    expect(worker.looks).toEqual([{ gid: 'a', dueInMs: 0, isSlow: true }])
    const slow = new FunctionNode(fixture, 'slow')
    const last = watched(slow.look('a', PLENTY_MS))
    await fixture.time.advance(10_000)
    expect(last.value).toBe('final')
    expect(fixture.services.calls).toHaveLength(12)
  })

  it('A call that was answered is not slow when it is made again, also after the slow function', async () => {
    const fixture = new Fixture()
    fixture.services.script('a', '01', 'action', { result: 'unknown', retryAfterMs: 40_000 })
    const api = quickNode(fixture, 'api')
    await api.engine.during(PLENTY_MS, () => api.engine.submit(buildSaga('a')))
    expect(api.looks).toEqual([{ gid: 'a', dueInMs: expect.closeTo(40_000, -3) }])
  })
})
