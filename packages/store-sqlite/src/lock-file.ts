import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { type Database, type DriverModule, readSqliteCode } from './driver.ts'
import { BrokenError, RefusedError } from './errors.ts'
import { createFile } from './file-rights.ts'
import { DATABASE_BYTE, HeldLock, listDescriptors } from './held-lock.ts'

/**
 * The file `PATH-lock`, an empty database that is held exclusively until it is closed. The lock is the operating
 * system's and belongs to the open file: it ends with the process, also by SIGKILL, so there is no stale lock to
 * judge. It is on a file of its own, since an exclusive lock on the database itself would shut out this process's
 * reader too.
 */
export class LockFile {
  readonly #driver: DriverModule
  readonly #path: string
  #database: Database
  #inode: number | undefined
  #held: HeldLock | undefined

  private constructor(driver: DriverModule, path: string) {
    this.#driver = driver
    this.#path = path
    this.#database = this.#open()
    this.#inode = this.#readInode()
    this.#held = this.#findLock()
  }

  /** Throws SAGA_STORE_IN_USE if another process has the file. */
  static acquire(driver: DriverModule, path: string): LockFile {
    const lock = new LockFile(driver, path)
    if (!isHolderAlive(path)) return lock
    lock.close()
    throw new RefusedError('SAGA_STORE_IN_USE', `the file is in use by ${readHolder(path)}, without its lock`)
  }

  /**
   * Locks the file again if it was removed or replaced, because the old lock then keeps out no other process. Throws
   * BrokenError if another process was faster, if the file cannot be made, or if the lock has ended.
   */
  keep(): void {
    if (this.#readInode() === this.#inode) {
      this.assertHeld()
      return
    }
    try {
      const database = this.#open()
      this.#held?.close()
      this.#database.close()
      this.#database = database
      this.#inode = this.#readInode()
      this.#held = this.#findLock()
    } catch (error: unknown) {
      throw new BrokenError(`the lock file ${this.#path}-lock was removed, and cannot be held again`, error)
    }
  }

  /** Throws BrokenError if the lock has ended, because code of this process has closed the lock file. */
  assertHeld(): void {
    this.#held?.assertHeld()
  }

  close(): void {
    this.#held?.close()
    this.#database.close()
  }

  #open(): Database {
    createFile(`${this.#path}-lock`)
    const lock = this.#driver.openDatabase(`${this.#path}-lock`)
    try {
      // The lock file is never written, so nothing must be undone, and it needs no journal file.
      lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    } catch (error: unknown) {
      lock.close()
      throw toInUseError(error, this.#path)
    }
    return lock
  }

  #findLock(): HeldLock | undefined {
    return HeldLock.find(`${this.#path}-lock`, DATABASE_BYTE)
  }

  #readInode(): number | undefined {
    return statSync(`${this.#path}-lock`, { throwIfNoEntry: false })?.ino
  }
}

/**
 * Tells whether the process that opened the store last still has its lock file open. That process has then lost its lock
 * without knowing it yet, since code of it has closed the lock file. The pid alone proves nothing, because another process
 * may have it by now.
 */
function isHolderAlive(path: string): boolean {
  const pid = Number(readPid(path))
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false
  return listDescriptors(pid, `${path}-lock`).length > 0
}

/** Writes the process id that `toInUseError` reports. The lock does not depend on it. */
export function writePid(path: string): void {
  writeFileSync(toPidPath(path), `${process.pid}\n`, { mode: 0o600 })
}

export function toInUseError(error: unknown, path: string): unknown {
  if (!readSqliteCode(error).startsWith('SQLITE_BUSY')) return error
  return new RefusedError('SAGA_STORE_IN_USE', `the file is in use by ${readHolder(path)}`, error)
}

function readHolder(path: string): string {
  const pid = readPid(path)
  return pid === undefined ? 'another process' : `process ${pid}`
}

function readPid(path: string): string | undefined {
  try {
    return readFileSync(toPidPath(path), 'utf8').trim()
  } catch {
    return undefined
  }
}

function toPidPath(path: string): string {
  return `${path}-pid`
}
