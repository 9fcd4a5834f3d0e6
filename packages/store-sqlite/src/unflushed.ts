import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { readSqliteCode } from './driver.ts'
import { RefusedError } from './errors.ts'
import { syncFolder } from './sync-folder.ts'

// A flush that fails is told once. Linux then takes what was to be flushed for flushed: it shows that to the next process, which would build on it,
// while the disk has something else. A power cut, or a lack of memory, would bring to light what the disk has. So a mark is left at such an error,
// and the next start writes what it sees to new files. The mark need not be durable: after a power cut there is nothing but the disk to see.

const CHUNK_BYTES = 1024 * 1024

export function isDiskFault(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const isOwnFlush = cause instanceof Error && 'syscall' in cause && cause.syscall === 'fdatasync'
  return isOwnFlush || readSqliteCode(cause).startsWith('SQLITE_IOERR')
}

/** Leaves the mark. Throws if the folder takes no new file. */
export function markUnflushed(path: string): void {
  const mark = toMark(path)
  if (!existsSync(mark)) closeSync(openSync(mark, 'wx', 0o600))
}

/**
 * Writes the log and the database anew if the mark is there, before they are opened. Returns what the operator is told, undefined if there is no
 * mark. Throws RefusedError if it cannot; nothing is changed then.
 */
export function rewriteUnflushed(path: string): string | undefined {
  const mark = toMark(path)
  if (!existsSync(mark)) return undefined
  try {
    // The log is the first: it has all that the database may lack.
    for (const place of [`${path}-wal`, path]) if (existsSync(place)) rewrite(place)
    rmSync(mark)
    syncFolder(dirname(path))
  } catch (error: unknown) {
    const text = `an earlier flush of ${path} failed, so it has to be copied before it can be used: ${error instanceof Error ? error.message : error}`
    throw new RefusedError('SAGA_STORE_UNAVAILABLE', text, error)
  }
  return `an earlier flush of ${path} failed: its files were written anew. Look at the disk`
}

function toMark(path: string): string {
  return `${path}-unflushed`
}

/** If the process dies on any line, the place has the old file or the new one, whole. */
function rewrite(place: string): void {
  const next = `${place}-rewritten`
  rmSync(next, { force: true })
  try {
    writeCopy(place, next)
    renameSync(next, place)
    syncFolder(dirname(place))
  } catch (error: unknown) {
    rmSync(next, { force: true })
    throw error
  }
}

/** Writes a copy with the rights and the owner of the first. A copy by the system might share the blocks of the old file. */
function writeCopy(place: string, next: string): void {
  const from = openSync(place, 'r')
  try {
    const to = openSync(next, 'wx', 0o600)
    try {
      const { mode, uid, gid } = fstatSync(from)
      const own = fstatSync(to)
      fchmodSync(to, mode & 0o777)
      if (uid !== own.uid || gid !== own.gid) fchownSync(to, uid, gid)
      copy(from, to)
      fsyncSync(to)
    } finally {
      closeSync(to)
    }
  } finally {
    closeSync(from)
  }
}

function copy(from: number, to: number): void {
  const buffer = Buffer.alloc(CHUNK_BYTES)
  for (let read = readSync(from, buffer); read > 0; read = readSync(from, buffer)) {
    for (let written = 0; written < read; ) written += writeSync(to, buffer, written, read - written)
  }
}
