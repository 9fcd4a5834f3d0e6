import { join } from 'node:path'
import type { StoreEvent } from '@counterstep/core'
import { describe, expect, it, vi } from 'vitest'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { aTransaction, finishOf } from './transactions.ts'

const folder = await temporaryFolder()

describe('the mark of free bytes', () => {
  it('is told once each way, and what is there is saved meanwhile', async () => {
    let free = 1_000
    const events: StoreEvent[] = []
    const store = await openSqliteStore({
      path: join(folder, 'short.db'),
      freeBytesMin: 2_000,
      freeBytes: async () => free,
      onEvent: (event) => events.push(event),
    })
    expect(store.isShortOfRoom).toBe(true)
    const row = aTransaction('runs')
    await store.create(row)
    expect(await store.update(finishOf(row))).toMatchObject({ type: 'saved' })
    free = 2_000
    await vi.waitFor(() => expect(store.isShortOfRoom).toBe(false), 10_000)
    free = 0
    await vi.waitFor(() => expect(store.isShortOfRoom).toBe(true), 10_000)
    const names = events.map(({ name }) => name)
    expect(names).toEqual(['store-short-of-room', 'store-has-room', 'store-short-of-room'])
    await store.close()
  })

  it('keeps what it knew where the disk cannot be asked', async () => {
    let asked = 0
    const store = await openSqliteStore({
      path: join(folder, 'mute.db'),
      freeBytes: async () => {
        asked += 1
        throw new Error('no such disk')
      },
    })
    await vi.waitFor(() => expect(asked).toBeGreaterThan(1), 10_000)
    expect(store.isShortOfRoom).toBe(false)
    await store.close()
  })

  it('is off at 0', async () => {
    const store = await openSqliteStore({
      path: join(folder, 'off.db'),
      freeBytesMin: 0,
      freeBytes: () => Promise.reject(new Error('asked')),
    })
    expect(store.isShortOfRoom).toBe(false)
    await store.close()
  })

  it('asks the operating system by default', async () => {
    const store = await openSqliteStore({
      path: join(folder, 'real.db'),
      freeBytesMin: Number.MAX_SAFE_INTEGER,
      onEvent: () => undefined,
    })
    expect(store.isShortOfRoom).toBe(true)
    await store.close()
  })
})
