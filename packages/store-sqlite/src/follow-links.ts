import { lstatSync, realpathSync, statSync } from 'node:fs'
import { RefusedError } from './errors.ts'

/**
 * Finds the one name under which a database file is locked. It follows a symbolic link, because a lock file beside
 * the link would not keep out a process that uses the real name. It refuses a file with a second name: SQLite keeps a
 * log beside each name, and two processes that used one each would overwrite each other's writes.
 */
export function followLinks(path: string): string {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (entry === undefined) return path
  const real = entry.isSymbolicLink() ? readRealName(path) : path
  const file = statSync(real)
  if (file.isFile() && file.nlink > 1) {
    throw new RefusedError(
      'SAGA_STORE_UNAVAILABLE',
      `${real} has ${file.nlink} names (hard links): leave it one`,
    )
  }
  return real
}

function readRealName(path: string): string {
  try {
    return realpathSync(path)
  } catch (error: unknown) {
    throw new RefusedError('SAGA_STORE_UNAVAILABLE', `${path} is a link to a file that is not there`, error)
  }
}
