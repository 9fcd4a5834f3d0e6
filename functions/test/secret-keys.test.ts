import { describe, expect, it } from 'vitest'
import { KEYS_FRESH_MS, KEYS_RETRY_MS, KEYS_USABLE_MS, SecretKeys } from '../src/secret-keys.ts'

const ID = 'k1234567'
const EMPTY = JSON.stringify({ version: 1, keys: [] })

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
