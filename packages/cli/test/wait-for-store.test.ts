import { StoreUnavailableError } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'
import { describe, expect, it, vi } from 'vitest'
import { LOGIN_REFUSED_WAIT_MS_MAX, waitForStore } from '../src/wait-for-store.ts'

const UNAVAILABLE = new StoreUnavailableError('connection refused', { applied: 'no' })

function attempts(...results: readonly (Error | string)[]) {
  let index = 0
  return vi.fn(async () => {
    const result = results[Math.min(index++, results.length - 1)]
    if (result instanceof Error) throw result
    return result
  })
}

function waiting(waitMs: number) {
  const controller = new AbortController()
  const onRetry = vi.fn()
  return { controller, onRetry, wait: { waitMs, signal: controller.signal, onRetry } }
}

describe('a store that does not answer at start', () => {
  it('A store that does not answer is asked again until it does, and each time is reported', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    try {
      const { wait, onRetry } = waiting(30_000)
      const attempt = attempts(UNAVAILABLE, UNAVAILABLE, 'open')
      const opened = waitForStore(attempt, wait)
      await vi.advanceTimersByTimeAsync(10_000)
      expect(await opened).toBe('open')
      expect(attempt).toHaveBeenCalledTimes(3)
      expect(onRetry).toHaveBeenCalledTimes(2)
      expect(onRetry.mock.calls[0]?.[0]).toBe(UNAVAILABLE)
    } finally {
      vi.useRealTimers()
    }
  })

  it('A store is given up with its own error when the wait is over', async () => {
    const { wait, onRetry } = waiting(600)
    const attempt = attempts(UNAVAILABLE)
    await expect(waitForStore(attempt, wait)).rejects.toBe(UNAVAILABLE)
    // It was asked at 0 and at 250 ms; the third time would be at 750 ms.
    expect(attempt).toHaveBeenCalledTimes(2)
    expect(onRetry).toHaveBeenCalledTimes(1)
  })

  it('A store is asked once when there is no wait', async () => {
    const { wait, onRetry } = waiting(0)
    const attempt = attempts(UNAVAILABLE)
    await expect(waitForStore(attempt, wait)).rejects.toBe(UNAVAILABLE)
    expect(attempt).toHaveBeenCalledTimes(1)
    expect(onRetry).not.toHaveBeenCalled()
  })

  it('A store that refuses the login is given up soon, since a database under construction refuses only for a while', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    try {
      const refused = new StoreUnavailableError('refused', { applied: 'no', isLoginRefused: true })
      const startedAt = performance.now()
      const opened = waitForStore(attempts(refused), waiting(30_000).wait).catch((error: unknown) => error)
      await vi.advanceTimersByTimeAsync(LOGIN_REFUSED_WAIT_MS_MAX)
      expect(await opened).toBe(refused)
      expect(performance.now() - startedAt).toBeLessThanOrEqual(LOGIN_REFUSED_WAIT_MS_MAX)
      const later = waitForStore(attempts(UNAVAILABLE, refused, 'open'), waiting(30_000).wait)
      await vi.advanceTimersByTimeAsync(10_000)
      expect(await later).toBe('open')
    } finally {
      vi.useRealTimers()
    }
  })

  it('A store is not asked again when its answer will not change', async () => {
    const refused = new CounterstepError('SAGA_STORE_NOT_DURABLE', 'class C')
    const attempt = attempts(refused, 'open')
    await expect(waitForStore(attempt, waiting(30_000).wait)).rejects.toBe(refused)
    expect(attempt).toHaveBeenCalledTimes(1)
  })
})

describe('a stop signal', () => {
  it('A stop signal ends an attempt to open the store that hangs', async () => {
    const { wait, controller } = waiting(30_000)
    const opened = waitForStore(() => new Promise(() => undefined), wait)
    controller.abort()
    await expect(opened).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('A stop signal ends the wait between two attempts to open the store', async () => {
    const { wait, controller } = waiting(30_000)
    const attempt = attempts(UNAVAILABLE)
    const opened = waitForStore(attempt, { ...wait, onRetry: () => setImmediate(() => controller.abort()) })
    await expect(opened).rejects.toMatchObject({ name: 'AbortError' })
    expect(attempt).toHaveBeenCalledTimes(1)
  })

  it('A stop signal that was given before ends the wait at once, also when the attempt fails at the same time', async () => {
    const { wait, controller } = waiting(30_000)
    controller.abort()
    await expect(waitForStore(attempts(UNAVAILABLE), wait)).rejects.toMatchObject({ name: 'AbortError' })
  })
})
