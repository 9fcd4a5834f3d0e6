import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { RefusedError } from './errors.ts'

/**
 * Finds the one name under which a database file is locked. It follows a symbolic link, because a lock file beside
 * the link would not keep out a process that uses the real name. It refuses a file with a second name: SQLite keeps a
 * log beside each name, and two processes that used one each would overwrite each other's writes. A file that is mounted by itself is such a file:
 * its log would stay in the folder of the mount.
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
  if (isMountPoint(realpathSync(real))) {
    throw new RefusedError(
      'SAGA_STORE_UNAVAILABLE',
      `${real} is mounted by itself, so that its log would be elsewhere: mount the folder that it is in`,
    )
  }
  return real
}

/** Linux tells the mounts of this process here. */
const MOUNTS = '/proc/self/mountinfo'

function isMountPoint(path: string): boolean {
  return existsSync(MOUNTS) && listsMountPoint(readFileSync(MOUNTS, 'utf8'), path)
}

/** The fifth field of each line is a mount point, in which white space and backslashes are octal numbers. Source: proc_pid_mountinfo(5). */
export function listsMountPoint(mounts: string, path: string): boolean {
  const toOctal = (letter: string) => `\\${letter.charCodeAt(0).toString(8).padStart(3, '0')}`
  const written = path.replaceAll(/[ \t\n\\]/g, toOctal)
  return mounts.split('\n').some((line) => line.split(' ')[4] === written)
}

function readRealName(path: string): string {
  try {
    return realpathSync(path)
  } catch (error: unknown) {
    throw new RefusedError('SAGA_STORE_UNAVAILABLE', `${path} is a link to a file that is not there`, error)
  }
}
