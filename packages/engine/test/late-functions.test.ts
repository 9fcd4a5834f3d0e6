import type { BranchCaller } from '@counterstep/core'
import { describe, expect, it } from 'vitest'
import { Fixture } from './support/fixture.ts'
import { FunctionNode } from './support/function-node.ts'
import { buildSaga, watched } from './support/sagas.ts'

const PLENTY_MS = 29_000
const QUICK_MS = 2_000
/** Branches of this process have this long to end after their calls, as the page on Lambda says. */
const OVERRUN_MS = 2_000
const QUICK = { quickCallMs: QUICK_MS }

/** Its branches are functions of this process. Each goes on for `lateMs` after its deadline. */
function lateCaller(fixture: Fixture, lateMs: number): BranchCaller {
  return {
    call: async (call) => {
      await fixture.time.delay(call.timeoutMs)
      call.onOverrun?.(fixture.time.delay(lateMs))
      return { result: 'unknown', error: 'timeout' }
    },
    close: async () => undefined,
  }
}

/** Submits a saga that a function holds, and tells when it was answered and when its row was given back. */
async function submitLate(
  lateMs: number,
  { quick = true, timeoutMs = 20_000, remainingMs = PLENTY_MS } = {},
) {
  const fixture = new Fixture()
  const branches = lateCaller(fixture, lateMs)
  const more = quick ? { ...QUICK, branches } : { branches }
  const node = new FunctionNode(fixture, 'api', {}, undefined, more)
  const startedAt = fixture.time.now
  let [answeredMs, givenBackMs] = [0, 0]
  const saga = buildSaga('a', 1, { timeoutMs, retry: { initialMs: 60_000 } })
  const invoked = watched(
    node.engine
      .during(remainingMs, () => node.engine.submit(saga, { waitMs: 25_000 }))
      .finally(() => {
        answeredMs = fixture.time.now - startedAt
      }),
  )
  for (let at = 0; !invoked.isSettled && at < remainingMs; at += 100) {
    await fixture.time.advance(100)
    const isGivenBack = (await fixture.row('a'))?.owned === false
    if (isGivenBack && givenBackMs === 0) givenBackMs = fixture.time.now - startedAt
  }
  return { answeredMs, givenBackMs, status: invoked.value?.status, node }
}

describe('S40: a function of this process that goes on when its call was cut', () => {
  it('Its invocation gives the saga back and answers as soon as it has ended', async () => {
    const { answeredMs, givenBackMs, status, node } = await submitLate(300)
    expect(status).toBe('submitted')
    expect(answeredMs).toBeGreaterThanOrEqual(QUICK_MS + 300)
    expect(answeredMs).toBeLessThan(QUICK_MS + 500)
    expect(givenBackMs).toBeGreaterThanOrEqual(QUICK_MS + 300)
    expect(node.seen.named('branch-left-running')).toEqual([])
  })

  it('Its invocation waits for it after the saga was given back, if it takes long', async () => {
    const { answeredMs, givenBackMs, node } = await submitLate(1_500)
    expect(givenBackMs).toBeLessThan(QUICK_MS + 700)
    expect(answeredMs).toBeGreaterThanOrEqual(QUICK_MS + 1_500)
    expect(answeredMs).toBeLessThan(QUICK_MS + 1_700)
    expect(node.looks).toEqual([{ gid: 'a', dueInMs: expect.any(Number), isSlow: true }])
    expect(node.seen.named('branch-left-running')).toEqual([])
  })

  it('Its caller is answered after 2 s more if it never ends, and the log says which transaction it is of', async () => {
    const { answeredMs, status, node } = await submitLate(Number.MAX_SAFE_INTEGER)
    expect(status).toBe('submitted')
    expect(answeredMs).toBeGreaterThanOrEqual(QUICK_MS + OVERRUN_MS)
    expect(answeredMs).toBeLessThan(QUICK_MS + OVERRUN_MS + 200)
    expect(node.seen.named('branch-left-running')).toMatchObject([{ level: 'warn', gid: 'a' }])
  })

  it('One that was ended by its own deadline is waited for, too', async () => {
    const { answeredMs, givenBackMs, node } = await submitLate(1_000, { timeoutMs: 500 })
    expect(givenBackMs).toBeLessThan(1_000)
    expect(answeredMs).toBeGreaterThanOrEqual(1_500)
    expect(answeredMs).toBeLessThan(1_700)
    expect(node.seen.named('branch-left-running')).toEqual([])
  })

  it('The time that is kept for the answer is kept, and the saga is given back in time', async () => {
    const more = { quick: false, remainingMs: 6_000 }
    const { answeredMs, givenBackMs } = await submitLate(Number.MAX_SAFE_INTEGER, more)
    expect(givenBackMs).toBeGreaterThan(0)
    expect(givenBackMs).toBeLessThanOrEqual(3_800)
    expect(answeredMs).toBeLessThanOrEqual(4_600)
  })

  it('Later requests do not wait for it', async () => {
    const { node } = await submitLate(Number.MAX_SAFE_INTEGER)
    const read = watched(node.engine.during(PLENTY_MS, () => node.engine.get('a' as never)))
    await expect.poll(() => read.isSettled).toBe(true)
  })
})
