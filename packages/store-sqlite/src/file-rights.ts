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

/** SQLite names the log and its index itself; the others are this store's. */
const SUFFIXES = ['', '-wal', '-shm', '-lock', '-pid', '-unflushed']

/** Lists the database and the files beside it. */
export function listFiles(path: string): readonly string[] {
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
 * Creates the file for its owner alone, if it does not exist. SQLite gives its log the rights of the database. A file
 * that exists is not even opened, because closing it would end the locks that this process has on it.
 */
export function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', FILE_MODE))
  } catch (error: unknown) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error
  }
}

/**
 * Returns a warning for each existing file or folder that other users may read or write, with the command that
 * changes that. If every user of the machine may write a place, the store is refused, because any of them could
 * replace the database. A group that may write only gets a warning, since a volume of Kubernetes belongs to a group
 * (`fsGroup`). A link in the place of one of these files is refused too, because the author of the link decides where
 * the data goes.
 */
export function checkRights(path: string): readonly string[] {
  if (process.platform === 'win32') return []
  const folder = dirname(path)
  const places = [folder, ...listFiles(path)]
  for (const file of listFiles(path)) refuseLink(file)
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
  // In a sticky folder such as /tmp no user can replace another user's files.
  if ((mode & OTHERS_WRITE) !== 0 && !(isFolder && (mode & STICKY) !== 0)) {
    const text = `every user may write ${place} (mode ${rights}): ${remedy}`
    throw new RefusedError('SAGA_STORE_UNAVAILABLE', text)
  }
  // A user who may read the folder sees only the names of files, and the rights of each file are checked by
  // themselves. An ordinary `mkdir` lets every user read the folder.
  const bits = isFolder ? GROUP_OR_OTHERS_WRITE : GROUP_OR_OTHERS_USE
  if ((mode & bits) === 0) return undefined
  const what = (mode & GROUP_WRITES) === 0 ? 'read' : 'write'
  return `other users may ${what} ${place} (mode ${rights}): ${remedy}`
}
