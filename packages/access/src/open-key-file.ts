import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { CounterstepError } from '@counterstep/protocol'
import { toKeysUnusableError } from './errors.ts'
import { readKeyFileText } from './key-file-text.ts'
import type { StoredKey } from './stored-key.ts'

const FILE_BYTES_MAX = 1024 * 1024
/**
 * A file with one of these rights is refused. Others may do nothing with the file, and the group may only read it: a
 * secret that Kubernetes mounts belongs to root, and the server reads it by its group.
 */
const MODE_DENIED = 0o027

export interface KeyFile {
  readonly keys: ReadonlyMap<string, StoredKey>
  /** Identifies the content and the rights of the file. If it differs, the file has to be read again. */
  readonly version: string
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

/** A file that has replaced this one outside of its mount is never seen here, and neither is a key that it revokes. */
export class KeyFileReplacedError extends CounterstepError {
  constructor() {
    super(
      'SAGA_KEYS_UNUSABLE',
      'the file of keys was replaced where this process cannot see it, so no key is taken: mount its folder, and start again',
    )
  }
}

/**
 * Reads the file of keys. Throws SAGA_KEYS_UNUSABLE; its cause has a code if it was a system error. It is a KeyFileReplacedError
 * where the path leads to a file that has no name any more, since the file itself is mounted and was replaced outside.
 */
export async function openKeyFile(path: string): Promise<KeyFile> {
  const { nlink } = await stat(path, { bigint: true }).catch(() => ({ nlink: 1n }))
  if (nlink === 0n) throw new KeyFileReplacedError()
  const handle = await open(path, constants.O_RDONLY).catch((error: unknown) => {
    throw toKeysUnusableError(`the file of keys cannot be read`, error)
  })
  try {
    return await readHandle(handle)
  } finally {
    await handle.close()
  }
}

async function readHandle(handle: FileHandle): Promise<KeyFile> {
  const stats = await handle.stat({ bigint: true })
  const mode = Number(stats.mode) & 0o777
  if (!stats.isFile()) throw toKeysUnusableError('the file of keys is no regular file')
  if (process.platform !== 'win32' && (mode & MODE_DENIED) !== 0) {
    throw toKeysUnusableError(
      `others may read or change the file of keys (mode ${mode.toString(8)}): chmod 600 it`,
    )
  }
  if (stats.size > FILE_BYTES_MAX)
    throw toKeysUnusableError(`the file of keys is over ${FILE_BYTES_MAX} bytes`)
  const keys = readKeyFileText(await handle.readFile('utf8'))
  return { keys, version: buildVersion(stats), mode, uid: Number(stats.uid), gid: Number(stats.gid) }
}

interface Stats {
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/** Builds a text that differs if the file has changed. It has the time of change as well, which a chmod sets. */
export function buildVersion({ ino, size, mtimeNs, ctimeNs }: Stats): string {
  return [ino, size, mtimeNs, ctimeNs].join(' ')
}
