import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { type Database, type DriverModule, sqliteCode } from './driver.ts'
import { BrokenError, RefusedError } from './errors.ts'
import { createFile } from './file-rights.ts'

/**
 * The file `PATH-lock`, an empty database that is held exclusively until it is closed. The lock is the operating system's and
 * belongs to the open file: it ends with the process, also by SIGKILL, so there is no stale lock to judge. It is on a file of its
 * own, since an exclusive lock on the database itself would shut out this process's reader too.
 */
export class LockFile {
  readonly #driver: DriverModule
  readonly #path: string
  #database: Database
  #inode: number | undefined

  private constructor(driver: DriverModule, path: string) {
    this.#driver = driver
    this.#path = path
    this.#database = this.#open()
    this.#inode = this.#readInode()
  }

  /** Throws SAGA_STORE_IN_USE. */
  static hold(driver: DriverModule, path: string): LockFile {
    return new LockFile(driver, path)
  }

  /**
   * Holds the file again where it was removed or replaced, since the held one then shuts out no other process. Throws
   * BrokenError where another process was faster, or the file cannot be made.
   */
  keep(): void {
    if (this.#readInode() === this.#inode) return
    try {
      const database = this.#open()
      this.#database.close()
      this.#database = database
      this.#inode = this.#readInode()
    } catch (error: unknown) {
      throw new BrokenError(`the lock file ${this.#path}-lock was removed, and cannot be held again`, error)
    }
  }

  close(): void {
    this.#database.close()
  }

  #open(): Database {
    createFile(`${this.#path}-lock`)
    const lock = this.#driver.openDatabase(`${this.#path}-lock`)
    try {
      // Nothing is ever written, so nothing need be undone: no journal file stands beside it.
      lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    } catch (error: unknown) {
      lock.close()
      throw inUseOr(error, this.#path)
    }
    return lock
  }

  #readInode(): number | undefined {
    return statSync(`${this.#path}-lock`, { throwIfNoEntry: false })?.ino
  }
}

/** Writes what `inUseOr` tells of; the lock does not depend on it. */
export function writePid(path: string): void {
  writeFileSync(pidPath(path), `${process.pid}\n`, { mode: 0o600 })
}

export function inUseOr(error: unknown, path: string): unknown {
  if (!sqliteCode(error).startsWith('SQLITE_BUSY')) return error
  return new RefusedError('SAGA_STORE_IN_USE', `${path} is in use by ${holderOf(path)}`, error)
}

function holderOf(path: string): string {
  try {
    return `process ${readFileSync(pidPath(path), 'utf8').trim()}`
  } catch {
    return 'another process'
  }
}

function pidPath(path: string): string {
  return `${path}-pid`
}
