import { readFileSync, writeFileSync } from 'node:fs'
import { type Database, type DriverModule, sqliteCode } from './driver.ts'
import { RefusedError } from './errors.ts'
import { createFile } from './file-rights.ts'

/**
 * Holds the file `PATH-lock`, an empty database, until it is closed. The lock is the operating system's and belongs to the
 * open file: it ends with the process, also by SIGKILL, so there is no stale lock to judge. It is on a file of its own, since
 * an exclusive lock on the database itself would shut out this process's reader too.
 */
export function holdLock(driver: DriverModule, path: string): Database {
  createFile(`${path}-lock`)
  const lock = driver.openDatabase(`${path}-lock`)
  try {
    // Nothing is ever written, so nothing need be undone: no journal file stands beside it.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error: unknown) {
    lock.close()
    throw inUseOr(error, path)
  }
  return lock
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
