import { closeSync, existsSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { RefusedError } from './errors.ts'

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
const STICKY = 0o1000
const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
const GROUP_OR_OTHERS_USE = 0o077
const GROUP_OR_OTHERS_WRITE = 0o022

/** SQLite names the log and its index itself; the lock file and the pid file are this store's. */
const SUFFIXES = ['', '-wal', '-shm', '-lock', '-pid']

/** The database and the files that stand beside it. */
export function filesOf(path: string): readonly string[] {
  return SUFFIXES.map((suffix) => path + suffix)
}

/**
 * Makes the folder for its owner alone. Returns the first folder that had to be made, undefined if all were there.
 * The umask can only take rights away, so the mode of what is new is never wider than this.
 */
export function makeFolder(folder: string): string | undefined {
  return mkdirSync(folder, { recursive: true, mode: FOLDER_MODE })
}

/**
 * Creates the file for its owner alone, if it is not there; SQLite gives its log the rights of the database. A file that is
 * there is not even opened: closing it would end the locks that this process holds on it.
 */
export function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', FILE_MODE))
  } catch (error: unknown) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error
  }
}

/**
 * Tells whom the files that were there before let in, with the command that changes it. Where every user of the machine may
 * write, the store is refused: such a user could put a database of his own in its place. A group that writes is only warned of,
 * since a volume of Kubernetes belongs to one (`fsGroup`). A link in the place of one of these files is refused too: what is
 * written would go where whoever made it says.
 */
export function checkRights(path: string): readonly string[] {
  if (process.platform === 'win32') return []
  const folder = dirname(path)
  const places = [folder, ...filesOf(path)]
  for (const file of filesOf(path)) refuseLink(file)
  return places.flatMap((place) => (existsSync(place) ? (checkPlace(place, place === folder) ?? []) : []))
}

/** The database itself is never refused: a link in its place has been followed before. */
function refuseLink(place: string): void {
  if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw new RefusedError('SAGA_STORE_UNAVAILABLE', `${place} is a link: remove it`)
}

function checkPlace(place: string, isFolder: boolean): string | undefined {
  const { mode } = statSync(place)
  const rights = (mode & 0o777).toString(8)
  const remedy = `chmod ${isFolder ? '700' : '600'} ${place}`
  // In a sticky folder such as /tmp nobody replaces another user's files.
  if ((mode & OTHERS_WRITE) !== 0 && !(isFolder && (mode & STICKY) !== 0)) {
    const text = `every user may write ${place} (mode ${rights}): ${remedy}`
    throw new RefusedError('SAGA_STORE_UNAVAILABLE', text)
  }
  // Who reads the folder sees the names of files, each of which is looked at by itself; an ordinary `mkdir` lets everyone do so.
  const bits = isFolder ? GROUP_OR_OTHERS_WRITE : GROUP_OR_OTHERS_USE
  if ((mode & bits) === 0) return undefined
  const what = (mode & GROUP_WRITES) === 0 ? 'read' : 'write'
  return `other users may ${what} ${place} (mode ${rights}): ${remedy}`
}
