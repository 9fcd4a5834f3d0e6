import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  KEYS_FRESH_MS,
  KEYS_RETRY_MS,
  KEYS_USABLE_MS,
  KEYS_WAIT_MS,
  KEYS_WAIT_TOO_OLD_MS,
  SecretKeys,
} from '../src/secret-keys.ts'

const ID = 'abcdefgh2345'
const EMPTY = JSON.stringify({ version: 1, keys: [] })
const WITH_KEY = JSON.stringify({
  version: 1,
  keys: [
    {
      id: ID,
      name: 'orders',
      scopes: ['read'],
      secretSha256: '0'.repeat(64),
      createdAt: 0,
      expiresAt: null,
    },
  ],
})

function world() {
  const state = { nowMs: 0, text: EMPTY as string | Error, reads: 0, errors: 0 }
  const readSecret = async () => {
    state.reads++
    if (state.text instanceof Error) throw state.text
    return state.text
  }
  const nothing = () => undefined
  const logger = { info: nothing, warn: nothing, error: () => void state.errors++ }
  const open = () => SecretKeys.open('arn', readSecret, logger, () => state.nowMs)
  return { state, open }
}

describe('keys of a secret', () => {
  it('Keys are read again when they are a minute old, and not before', async () => {
    const { state, open } = world()
    const keys = await open()
    state.nowMs = KEYS_FRESH_MS - 1
    await keys.refresh()
    expect(state.reads).toBe(1)
    state.nowMs = KEYS_FRESH_MS
    await keys.refresh()
    await keys.refresh()
    expect(state.reads).toBe(2)
    expect(keys.find(ID)).toBeUndefined()
  })

  it('Keys stay in force for ten minutes when they cannot be read, and then the refresh fails', async () => {
    const { state, open } = world()
    const keys = await open()
    state.text = new Error('throttled')
    state.nowMs = KEYS_USABLE_MS - 1
    await keys.refresh()
    expect(state.errors).toBe(1)
    state.nowMs = KEYS_USABLE_MS
    await expect(keys.refresh()).rejects.toMatchObject({ code: 'SAGA_KEYS_UNUSABLE' })
    state.text = EMPTY
    state.nowMs += KEYS_RETRY_MS
    await keys.refresh()
  })

  it('Keys are not read at each request when they cannot be read', async () => {
    const { state, open } = world()
    const keys = await open()
    state.text = new Error('throttled')
    state.nowMs = KEYS_FRESH_MS
    for (let request = 0; request < 5; request++) await keys.refresh()
    expect(state.reads).toBe(2)
    state.nowMs += KEYS_RETRY_MS
    await keys.refresh()
    expect(state.reads).toBe(3)
  })

  it('A text that is no file of keys counts as one that cannot be read', async () => {
    const { state, open } = world()
    const keys = await open()
    state.text = 'hello'
    state.nowMs = KEYS_FRESH_MS
    await keys.refresh()
    expect(state.errors).toBe(1)
  })
})

/** Lets a test end each read itself. The first one, which opens the keys, has the key. */
async function openSlowKeys() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const state = { nowMs: 0 }
  const reads: {
    readonly signal: AbortSignal | undefined
    readonly resolve: (text: string) => void
    readonly reject: (error: Error) => void
  }[] = []
  const readSecret = (_arn: string, signal?: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      reads.push({ signal, resolve, reject })
      if (reads.length === 1) resolve(WITH_KEY)
    })
  const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const keys = await SecretKeys.open('arn', readSecret, logger, () => state.nowMs)
  /** Refreshes the keys, and returns for how long that has waited, or the code of its error. */
  const measureWait = async () => {
    let waitedMs = 0
    const outcome = keys.refresh().then(
      () => 'usable',
      ({ code }) => String(code),
    )
    let isOver = false
    void outcome.then(() => (isOver = true))
    await vi.advanceTimersByTimeAsync(0)
    for (; !isOver && waitedMs < 60_000; waitedMs += 100) await vi.advanceTimersByTimeAsync(100)
    state.nowMs += waitedMs
    return [await outcome, waitedMs]
  }
  return { state, reads, keys, logger, measureWait }
}

describe('S20: keys of a secret that takes long', () => {
  it('S20: A request waits half a second for a secret that hangs, and uses the keys that are known', async () => {
    const { state, keys, measureWait, logger } = await openSlowKeys()
    state.nowMs = KEYS_FRESH_MS
    expect(await measureWait()).toEqual(['usable', KEYS_WAIT_MS])
    expect(keys.find(ID)).toBeDefined()
    for (let request = 0; request < 100; request++) expect(await measureWait()).toEqual(['usable', 0])
    expect(logger.warn).toHaveBeenCalledOnce()
  })

  it('S20: Requests wait less and less often for a secret that hangs, for 7 s in all at most until the keys are too old', async () => {
    const { state, measureWait } = await openSlowKeys()
    const waits: unknown[] = []
    for (state.nowMs = KEYS_FRESH_MS; state.nowMs < KEYS_USABLE_MS; state.nowMs += 1_000) {
      const [outcome, waitedMs] = await measureWait()
      expect(outcome).toBe('usable')
      if (waitedMs !== 0) waits.push(waitedMs)
    }
    expect(new Set(waits)).toEqual(new Set([KEYS_WAIT_MS]))
    expect(waits.length).toBeLessThanOrEqual(14)
    state.nowMs = KEYS_USABLE_MS
    expect(await measureWait()).toEqual(['SAGA_KEYS_UNUSABLE', KEYS_WAIT_TOO_OLD_MS])
    expect(await measureWait()).toEqual(['SAGA_KEYS_UNUSABLE', 0])
  })

  it('S20: A read that fails late, or that ends with no keys, keeps the known keys and no request waiting', async () => {
    const { state, reads, keys, measureWait, logger } = await openSlowKeys()
    state.nowMs = KEYS_FRESH_MS
    expect(await measureWait()).toEqual(['usable', KEYS_WAIT_MS])
    reads[1]?.reject(new Error('throttled'))
    expect(await measureWait()).toEqual(['usable', 0])
    state.nowMs += KEYS_RETRY_MS
    expect(await measureWait()).toEqual(['usable', KEYS_WAIT_MS])
    reads[2]?.resolve('hello')
    expect(await measureWait()).toEqual(['usable', 0])
    expect(keys.find(ID)).toBeDefined()
    expect(logger.error).toHaveBeenCalledTimes(2)
  })

  it('S20: A read that goes on beside the requests is used once it has ended, so that a revoked key is refused', async () => {
    const { state, reads, keys, measureWait } = await openSlowKeys()
    state.nowMs = KEYS_FRESH_MS
    await measureWait()
    reads[1]?.resolve(EMPTY)
    expect(await measureWait()).toEqual(['usable', 0])
    expect(keys.find(ID)).toBeUndefined()
  })

  it('S20: Keys are as old as the beginning of their read, since a function may be frozen while it reads', async () => {
    const { state, reads, measureWait } = await openSlowKeys()
    state.nowMs = KEYS_FRESH_MS
    await measureWait()
    state.nowMs = 2 * KEYS_FRESH_MS
    reads[1]?.resolve(WITH_KEY)
    await vi.advanceTimersByTimeAsync(0)
    const waited = measureWait()
    expect(reads).toHaveLength(3)
    await waited
  })

  it('S20: A read ends when the next one begins, and brings back no key that the next one has found revoked', async () => {
    const { state, reads, keys, measureWait } = await openSlowKeys()
    state.nowMs = KEYS_FRESH_MS
    await measureWait()
    state.nowMs += KEYS_FRESH_MS
    const waited = measureWait()
    expect(reads.map(({ signal }) => signal?.aborted)).toEqual([undefined, true, false])
    reads[2]?.resolve(EMPTY)
    await waited
    reads[1]?.resolve(WITH_KEY)
    await vi.advanceTimersByTimeAsync(0)
    expect(keys.find(ID)).toBeUndefined()
  })
})
