import { type FileHandle, open, readlink, realpath, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { toKeysUnusableError } from './errors.ts'
import { writeKeyFileText } from './key-file-text.ts'
import { type KeyFile, openKeyFile } from './open-key-file.ts'
import type { StoredKey } from './stored-key.ts'

const MODE = 0o600

type Keys = ReadonlyMap<string, StoredKey>

/**
 * Replaces the file as a whole: a reader sees the old or the new one. The new one, made beside it, is also the lock
 * against a second change at the same time. `change` gets no keys where there is no file yet.
 */
export async function changeKeyFile(
  name: string,
  change: (keys: Keys) => Iterable<StoredKey>,
): Promise<void> {
  // A link stays a link: servers may read the file by its own name.
  const path = await findFile(name)
  const besidePath = `${path}.new`
  const handle = await open(besidePath, 'wx', MODE).catch((error: unknown) => {
    const isThere = readErrorCode(error) === 'EEXIST'
    const advice = isThere
      ? `${besidePath} is there: remove it if no other change is under way`
      : 'cannot be written'
    throw toKeysUnusableError(`the file of keys: ${advice}`, error)
  })
  try {
    const old = await openExisting(path)
    await write(handle, writeKeyFileText(change(old?.keys ?? new Map())), old)
    await rename(besidePath, path)
  } catch (error) {
    await handle.close()
    await rm(besidePath, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}

async function findFile(name: string): Promise<string> {
  try {
    return await realpath(name)
  } catch (error: unknown) {
    if (readErrorCode(error) !== 'ENOENT')
      throw toKeysUnusableError('the file of keys cannot be found', error)
    const target = await readlink(name).catch(() => undefined)
    return target === undefined ? name : findFile(resolve(dirname(name), target))
  }
}

async function openExisting(path: string): Promise<KeyFile | undefined> {
  try {
    return await openKeyFile(path)
  } catch (error: unknown) {
    if (error instanceof Error && readErrorCode(error.cause) === 'ENOENT') return undefined
    throw error
  }
}

async function write(handle: FileHandle, text: string, old: KeyFile | undefined): Promise<void> {
  await handle.writeFile(text)
  if (old !== undefined && process.platform !== 'win32') {
    const { uid, gid } = await handle.stat()
    // The file stays readable for the server's user, even when an administrator changes it.
    if (uid !== old.uid || gid !== old.gid) await handle.chown(old.uid, old.gid)
    await handle.chmod(old.mode)
  }
  await handle.sync()
  await handle.close()
}

async function syncFolder(path: string): Promise<void> {
  // Windows does not open folders, and does not need this.
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function readErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
