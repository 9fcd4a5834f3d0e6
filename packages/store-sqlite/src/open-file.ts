import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DurabilityClass, StoreEvent } from '@counterstep/core'
import type { Database, DriverModule } from './driver.ts'
import { RefusedError } from './errors.ts'
import { checkRights, createFile, listFiles, makeFolder } from './file-rights.ts'
import { followLinks } from './follow-links.ts'
import { STATEMENTS } from './generated/sql.ts'
import { LockFile, toInUseError, writePid } from './lock-file.ts'
import type { WorkerSettings } from './messages.ts'
import { migrate } from './migrate.ts'
import { OpenFiles } from './open-files.ts'
import { syncFolder } from './sync-folder.ts'
import { syncFoundFiles } from './sync-found-files.ts'
import { isDiskFault, markUnflushed, rewriteUnflushed } from './unflushed.ts'

// These are NFS (also EFS), SMB and CIFS. Their locks and flushes promise less than SQLite needs.
const NETWORK_FILE_SYSTEMS: ReadonlySet<number> = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42])
const WAL_BYTES_KEPT = 64 * 1024 * 1024
const SYNCHRONOUS_CODES = { NORMAL: 1, FULL: 2 } as const

export interface OpenedFile {
  /** It is the place of the database, without links. */
  readonly path: string
  readonly database: Database
  /** The lock is closed after the database. */
  readonly lock: LockFile
  readonly files: OpenFiles
  readonly durabilityClass: DurabilityClass
  /** They say which other users may read or write a file or the folder, and that a flush had failed. */
  readonly warnings: readonly StoreEvent[]
}

export function openFile(driver: DriverModule, settings: WorkerSettings): OpenedFile {
  const path = followLinks(settings.path)
  const folder = dirname(path)
  refuseForeign(path)
  const made = makeFolder(folder)
  refuseNetwork(folder)
  const warnings: StoreEvent[] = checkRights(path).map((detail) => ({
    level: 'warn',
    name: 'store-open-to-others',
    detail,
  }))
  const lock = LockFile.acquire(driver, path)
  let database: Database | undefined
  try {
    const detail = rewriteUnflushed(path)
    if (detail !== undefined) warnings.push({ level: 'warn', name: 'store-rewritten', detail })
    syncFoundFiles(path)
    createFile(path)
    database = driver.openDatabase(path)
    enterWal(database, path)
    writePid(path)
    const durabilityClass = setPragmas(database, settings)
    migrate(database, settings.now)
    database.prepare(STATEMENTS.voidLeases).run(settings.now)
    syncFolder(folder)
    for (let at = folder; made !== undefined && at.startsWith(made); at = dirname(at)) syncFolder(dirname(at))
    return { path, database, lock, files: new OpenFiles(path, WAL_BYTES_KEPT), durabilityClass, warnings }
  } catch (error: unknown) {
    try {
      if (isDiskFault(error)) markUnflushed(path)
    } finally {
      database?.close()
      lock.close()
    }
    throw error
  }
}

function refuseNetwork(folder: string): void {
  if (NETWORK_FILE_SYSTEMS.has(statfsSync(folder).type)) {
    throw new RefusedError('SAGA_STORE_UNAVAILABLE', `${folder} is on a network file system`)
  }
}

/**
 * Refuses a place without the needed rights, which is mostly a volume of another user. SQLite would only say that it
 * cannot open the file.
 */
function refuseForeign(path: string): void {
  if (!existsSync(path) || statSync(path).isFile()) refuseForeign(dirname(path))
  for (const place of listFiles(path).filter((each) => existsSync(each))) refuseForeignPlace(place)
}

function refuseForeignPlace(place: string): void {
  const stats = statSync(place)
  // The files of a folder can be reached only with the right to search it.
  const read = stats.isDirectory() ? constants.R_OK | constants.X_OK : constants.R_OK
  const needed = { write: constants.W_OK, read }
  for (const [verb, right] of Object.entries(needed)) {
    try {
      accessSync(place, right)
    } catch (error: unknown) {
      const rights = (stats.mode & 0o777).toString(8)
      const text = `user ${process.getuid?.()} may not ${verb} ${place}, of user ${stats.uid} and mode ${rights}`
      throw new RefusedError('SAGA_STORE_UNAVAILABLE', text, error)
    }
  }
}

/** An older version of this code locks the database itself and has no lock file, so this fails while it runs. */
function enterWal(database: Database, path: string): void {
  try {
    const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.[0]
    if (mode !== 'wal') throw new RefusedError('SAGA_STORE_UNAVAILABLE', `${path} has no WAL but ${mode}`)
    database.exec('BEGIN IMMEDIATE; COMMIT')
  } catch (error: unknown) {
    throw toInUseError(error, path)
  }
}

function setPragmas(database: Database, { synchronous, cacheKibibytes }: WorkerSettings): DurabilityClass {
  // The worker runs the checkpoints itself, after its answer, so no caller waits for one.
  database.exec('PRAGMA wal_autocheckpoint = 0')
  database.exec(`PRAGMA journal_size_limit = ${WAL_BYTES_KEPT}`)
  database.exec(`PRAGMA cache_size = -${cacheKibibytes}`)
  database.exec(`PRAGMA synchronous = ${synchronous}`)
  // macOS answers a plain fsync before the disk has the bytes. On other systems this does nothing.
  database.exec('PRAGMA fullfsync = ON')
  const granted = database.prepare('PRAGMA synchronous').get()?.[0]
  if (granted !== SYNCHRONOUS_CODES[synchronous]) {
    throw new RefusedError('SAGA_STORE_UNAVAILABLE', `synchronous is ${granted}, not ${synchronous}`)
  }
  return synchronous === 'FULL' ? 'A' : 'B'
}
