import { lstatSync, realpathSync, statSync } from 'node:fs'
import { RefusedError } from './errors.ts'

/**
 * The one name under which a database file is locked. A symbolic link is followed, since its lock file would lie beside
 * the link and shut out nobody. A file with a second name is refused: SQLite keeps a log beside each of the two names, and
 * two processes that each used one of them would overwrite each other's writes.
 */
export function followLinks(path: string): string {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (entry === undefined) return path
  const real = entry.isSymbolicLink() ? realNameOf(path) : path
  const file = statSync(real)
  if (file.isFile() && file.nlink > 1) {
    throw new RefusedError(
      'SAGA_STORE_UNAVAILABLE',
      `${real} has ${file.nlink} names (hard links): leave it one`,
    )
  }
  return real
}

function realNameOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error: unknown) {
    throw new RefusedError('SAGA_STORE_UNAVAILABLE', `${path} is a link to a file that is not there`, error)
  }
}
