import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { describeLambda } from '../src/vitest/describe-lambda.ts'
import { openFunction, readAnswer } from './open-function.ts'
import { readProcessState } from './process-state.ts'

const WAIT_MS_MAX = 20_000

/** Waits until the process is stopped, since the signal may take a moment to arrive. */
async function untilStopped(pid: number): Promise<void> {
  await vi.waitFor(() => expect(readProcessState(pid)).toBe('T'), WAIT_MS_MAX)
}

describeLambda('an environment', (client) => {
  it('An environment is stopped between its invocations, and a timer left behind fires only in the next one', async () => {
    const tested = await openFunction(client, 'steps.handler')
    const first = readAnswer(await tested.invoke({ timerMs: 20 }))
    await untilStopped(Number(first.pid))
    // The test waits for nothing here: time passes, and the timer of the stopped process must not fire.
    await pause(500)
    const thawedAt = Date.now()
    await tested.invoke({ waitMs: 50 })
    const third = readAnswer(await tested.invoke({}))
    expect(third.pid).toBe(first.pid)
    expect(third.timerFiredAt).toBeGreaterThanOrEqual(thawedAt)
  })

  it('An environment is killed at the deadline', async () => {
    const tested = await openFunction(client, 'steps.handler', { timeoutMs: 1000 })
    const { pid } = readAnswer(await tested.invoke({}))
    const beganAt = Date.now()
    const late = await tested.invoke({ waitMs: 600_000 })
    expect(Date.now() - beganAt).toBeGreaterThanOrEqual(990)
    expect(late).toMatchObject({
      type: 'timed-out',
      error: { errorMessage: expect.stringContaining('Task timed out after 1.00 seconds') },
      report: { pid, outcome: 'timed-out' },
    })
    expect(readProcessState(Number(pid))).toBeUndefined()
    expect(readAnswer(await tested.invoke({})).pid).not.toBe(pid)
  })

  it('An environment handles one event at a time; more are started up to the reserved number, and then events are throttled', async () => {
    const tested = await openFunction(client, 'steps.handler', { reservedConcurrency: 2 })
    const outcomes = await Promise.all([1, 2, 3].map(() => tested.invoke({ waitMs: 300 })))
    expect(outcomes.map(({ type }) => type)).toEqual(['answered', 'answered', 'throttled'])
    expect(new Set(outcomes.slice(0, 2).map((outcome) => readAnswer(outcome).pid)).size).toBe(2)
    expect((await tested.invoke({})).type).toBe('answered')
    expect(tested.environments().map(({ id }) => id)).toEqual([1, 2])
  })

  it('An environment is used again rather than a new one, even right after its answer', async () => {
    const tested = await openFunction(client, 'steps.handler', { reservedConcurrency: 5 })
    for (let i = 0; i < 20; i += 1) await tested.invoke({})
    expect(tested.environments().map(({ id }) => id)).toEqual([1])
  })

  it('An environment is replaced after its number of invocations', async () => {
    const tested = await openFunction(client, 'steps.handler', { recycleAfter: { invocations: 2 } })
    const pids = []
    for (let i = 0; i < 4; i += 1) pids.push(readAnswer(await tested.invoke({})).pid)
    expect(pids[0]).toBe(pids[1])
    expect(pids[1]).not.toBe(pids[2])
    expect(pids[2]).toBe(pids[3])
  })

  it('An environment that is too old is replaced before it gets another event', async () => {
    const ageMs = 5000
    const tested = await openFunction(client, 'steps.handler', { recycleAfter: { ageMs } })
    const first = readAnswer(await tested.invoke({}))
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Number(first.startedAt) + ageMs), WAIT_MS_MAX)
    const next = readAnswer(await tested.invoke({}))
    expect(next.pid).not.toBe(first.pid)
    expect(next.invocations).toBe(1)
  })

  it('An environment can be thrown away while it is frozen', async () => {
    const tested = await openFunction(client, 'steps.handler')
    const pid = Number(readAnswer(await tested.invoke({})).pid)
    expect(tested.environments()).toEqual([{ id: 1, pid, state: 'frozen' }])
    await tested.recycle()
    expect(readProcessState(pid)).toBeUndefined()
    expect(readAnswer(await tested.invoke({})).pid).not.toBe(pid)
  })

  it('An environment that is stopped fails its invocation', async () => {
    const tested = await openFunction(client, 'steps.handler')
    const running = tested.invoke({ print: 'running', waitMs: 600_000 })
    await vi.waitFor(() => expect(tested.lines.length).toBeGreaterThan(0), WAIT_MS_MAX)
    await tested.stop()
    expect(await running).toMatchObject({ type: 'failed', error: { errorType: 'Runtime.ExitError' } })
    await expect(tested.invoke({})).rejects.toThrow('is stopped')
  })
})
