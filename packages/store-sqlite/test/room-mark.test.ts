import { join } from 'node:path'
import type { StoreEvent } from '@counterstep/core'
import { describe, expect, it, vi } from 'vitest'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import { RoomMark } from '../src/room-mark.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { aTransaction, makeFinish } from './transactions.ts'

const folder = await temporaryFolder()

describe('the mark of free bytes', () => {
  it('A shortage of room is reported once each way, and existing rows are saved meanwhile', async () => {
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
    expect(await store.update(makeFinish(row))).toMatchObject({ type: 'saved' })
    free = 2_000
    await vi.waitFor(() => expect(store.isShortOfRoom).toBe(false), 10_000)
    free = 0
    await vi.waitFor(() => expect(store.isShortOfRoom).toBe(true), 10_000)
    const names = events.map(({ name }) => name)
    expect(names).toEqual(['store-short-of-room', 'store-has-room', 'store-short-of-room'])
    await store.close()
  })

  it('The mark of free bytes keeps its last state where the disk cannot be asked', async () => {
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

  it('The mark of free bytes counts the pages that a purge has left inside the file, for up to half of its value', async () => {
    let free = 600_000
    const store = await openSqliteStore({
      path: join(folder, 'purged.db'),
      freeBytesMin: 1_000_000,
      freeBytes: async () => free,
      onEvent: () => undefined,
    })
    const rows = Array.from({ length: 100 }, (_, at) =>
      aTransaction(`t-${at}`, { definition: 'x'.repeat(20_000) }),
    )
    await Promise.all(rows.map((row) => store.create(row)))
    expect(store.isShortOfRoom).toBe(true)
    await Promise.all(
      rows.map((row) => store.update({ ...makeFinish(row), hold: { type: 'finish', retentionMs: 0 } })),
    )
    expect(await store.purgeFinished(100)).toEqual({ purged: 100 })
    await vi.waitFor(() => expect(store.isShortOfRoom).toBe(false), 10_000)
    free = 499_999
    await vi.waitFor(() => expect(store.isShortOfRoom).toBe(true), 10_000)
    await store.close()
  })

  it('A file that is being closed is not asked any more', async () => {
    let answer: ((freeBytes: number) => void) | undefined
    const slow = new Promise<number>((resolve) => {
      answer = resolve
    })
    const freeBytes = vi.fn(() => slow).mockResolvedValueOnce(2_000)
    const freeBytesInFile = vi.fn(async () => 0)
    const onEvent = vi.fn()
    const mark = await RoomMark.start({ freeBytesMin: 2_000, freeBytes, freeBytesInFile, onEvent })
    await vi.waitFor(() => expect(freeBytes).toHaveBeenCalledTimes(2), 10_000)
    mark.stop()
    answer?.(1_000)
    await new Promise(setImmediate)
    expect(freeBytesInFile).not.toHaveBeenCalled()
    expect(onEvent).not.toHaveBeenCalled()
  })

  it('The mark of free bytes is off at 0', async () => {
    const store = await openSqliteStore({
      path: join(folder, 'off.db'),
      freeBytesMin: 0,
      freeBytes: () => Promise.reject(new Error('asked')),
    })
    expect(store.isShortOfRoom).toBe(false)
    await store.close()
  })

  it('The mark of free bytes asks the operating system by default', async () => {
    const store = await openSqliteStore({
      path: join(folder, 'real.db'),
      freeBytesMin: Number.MAX_SAFE_INTEGER,
      onEvent: () => undefined,
    })
    expect(store.isShortOfRoom).toBe(true)
    await store.close()
  })
})
