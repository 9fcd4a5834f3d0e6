import { resolve } from 'node:path'
import { DOCUMENTS_MAX, NEVER_AT, PARKED_AT, type StoreUnavailableError } from '@counterstep/core'
import type { DriverName } from './driver.ts'
import { SqliteStore } from './sqlite-store.ts'
import { moduleUrl, WorkerLink } from './worker-link.ts'
import { WriteQueue } from './write-queue.ts'

export interface SqliteOptions {
  readonly path: string
  /** Wall clock, integer milliseconds from the epoch. Read once for each batch. */
  readonly now?: () => number
  /** A URL names a module that exports `openDatabase`. */
  readonly driver?: DriverName | URL
  /** FULL is class A, NORMAL class B. */
  readonly synchronous?: 'FULL' | 'NORMAL'
  /** Called once when nothing more can be said of the file; the host must exit, and the next open decides. */
  readonly onBroken?: (error: StoreUnavailableError) => void
  readonly batchRowsMax?: number
  readonly batchBytesMax?: number
  readonly queueRowsMax?: number
  readonly queueBytesMax?: number
  readonly cacheKibibytes?: number
}

const MEBIBYTE = 1024 * 1024

export async function openSqliteStore({
  path,
  now = Date.now,
  driver = 'better-sqlite3',
  synchronous = 'FULL',
  onBroken,
  batchRowsMax = 256,
  batchBytesMax = 4 * MEBIBYTE,
  queueRowsMax = 20_000,
  queueBytesMax = 64 * MEBIBYTE,
  cacheKibibytes = 65_536,
}: SqliteOptions): Promise<SqliteStore> {
  const driverUrl = (driver instanceof URL ? driver : moduleUrl(`${driver}-driver`)).href
  let queue: WriteQueue | undefined
  const link = await WorkerLink.start(
    {
      path: resolve(path),
      driverUrl,
      synchronous,
      now: now(),
      cacheKibibytes,
      parkedAt: PARKED_AT,
      neverAt: NEVER_AT,
      documentsMax: DOCUMENTS_MAX,
    },
    (error) => {
      queue?.reject(error)
      onBroken?.(error)
    },
  )
  queue = new WriteQueue(link, now, { batchRowsMax, batchBytesMax, queueRowsMax, queueBytesMax })
  return new SqliteStore(link, queue, now)
}
