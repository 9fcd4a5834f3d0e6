import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import {
  DOCUMENTS_MAX,
  NEVER_AT,
  PARKED_AT,
  type StoreEvent,
  type StoreUnavailableError,
} from '@counterstep/core'
import { ReadGate } from './read-gate.ts'
import { ReaderLink } from './reader-link.ts'
import { RoomMark } from './room-mark.ts'
import { SqliteStore } from './sqlite-store.ts'
import { toModuleUrl, WorkerLink } from './worker-link.ts'
import { WriteQueue } from './write-queue.ts'

export interface SqliteOptions {
  readonly path: string
  /** This is the wall clock in whole milliseconds since the epoch. It is read once for each batch. */
  readonly now?: () => number
  /**
   * This is the address of a module that exports `openDatabase`, for example one that adds faults to this package's own.
   * The default is Node's own SQLite.
   */
  readonly driver?: URL
  /** FULL is durability class A, and NORMAL is class B. */
  readonly synchronous?: 'FULL' | 'NORMAL'
  /** Is called once when the state of the file is unknown. The host must exit, and the next open decides. */
  readonly onBroken?: (error: StoreUnavailableError) => void
  /** Gets warnings that are no reason to refuse the file. The default is a warning of the process. */
  readonly onEvent?: (event: StoreEvent) => void
  /** If the disk has less room, no new transaction is taken, and running ones go on. With 0 this never happens. */
  readonly freeBytesMin?: number
  /** Reads how much room is left. The default is the free room of the folder's disk. */
  readonly freeBytes?: () => Promise<number>
  readonly batchRowsMax?: number
  readonly batchBytesMax?: number
  readonly queueRowsMax?: number
  readonly queueBytesMax?: number
  readonly cacheKibibytes?: number
}

const MEBIBYTE = 1024 * 1024
/** The log may grow to 128 MiB before it is moved into the database, which then needs as much again. */
export const FREE_BYTES_MIN = 256 * MEBIBYTE

export async function openSqliteStore({
  path,
  now = Date.now,
  driver = toModuleUrl('node-driver'),
  synchronous = 'FULL',
  onBroken,
  onEvent = warn,
  freeBytesMin = FREE_BYTES_MIN,
  freeBytes = () => readFreeBytes(dirname(resolve(path))),
  batchRowsMax = 256,
  batchBytesMax = 4 * MEBIBYTE,
  queueRowsMax = 20_000,
  queueBytesMax = 64 * MEBIBYTE,
  cacheKibibytes = 65_536,
}: SqliteOptions): Promise<SqliteStore> {
  const gate = new SharedArrayBuffer(ReadGate.bytes)
  let queue: WriteQueue | undefined
  let reader: ReaderLink | undefined
  const link = await WorkerLink.start(
    {
      path: resolve(path),
      driverUrl: driver.href,
      gate,
      synchronous,
      now: now(),
      cacheKibibytes,
      parkedAt: PARKED_AT,
      neverAt: NEVER_AT,
      documentsMax: DOCUMENTS_MAX,
    },
    (error) => {
      queue?.reject(error)
      reader?.fail(error)
      onBroken?.(error)
    },
  )
  queue = new WriteQueue(link, now, { batchRowsMax, batchBytesMax, queueRowsMax, queueBytesMax })
  reader = new ReaderLink({ path: resolve(path), driverUrl: driver.href, gate })
  for (const event of link.warnings) onEvent(event)
  const room = await RoomMark.start({
    freeBytesMin,
    freeBytes,
    freeBytesInFile: () => countFreeBytesIn(reader),
    onEvent,
  })
  return new SqliteStore(link, { reader, queue, now, room })
}

async function readFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

async function countFreeBytesIn(reader: ReaderLink): Promise<number> {
  const [row] = await reader.read({ type: 'freeBytes' })
  return Number(row?.[0])
}

function warn({ level, name, detail }: StoreEvent): void {
  if (level !== 'info') process.emitWarning(detail, { type: 'CounterstepWarning', code: name })
}
