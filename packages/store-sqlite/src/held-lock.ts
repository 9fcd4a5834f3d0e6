import { closeSync, openSync, readdirSync, readlinkSync, readSync, realpathSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { BrokenError } from './errors.ts'

/** SQLite locks this byte of a database for as long as its connection may read it, and beyond it to write. */
export const DATABASE_BYTE = 0x40000002
/** SQLite locks this byte of the log's index (`-shm`) for as long as a process uses the index. */
export const INDEX_BYTE = 128

const TEXT_BYTES = 4096
const LOCK_LINES = /^lock:.* POSIX .* (\d+) (\d+|EOF)$/gm

/**
 * A lock of this process on a file that SQLite has open. The locks of POSIX belong to a process and a file: all of them
 * end when any code of the process closes any descriptor of that file, for example after copying it. SQLite does not
 * learn of it. Linux shows the locks of each descriptor in `/proc/self/fdinfo`. That text stays open here, because a
 * process without a free descriptor could not open it.
 */
export class HeldLock {
  readonly #place: string
  readonly #byte: number
  readonly #info: number
  readonly #text = Buffer.alloc(TEXT_BYTES)

  private constructor(place: string, byte: number, info: number) {
    this.#place = place
    this.#byte = byte
    this.#info = info
  }

  /** Returns undefined where the system does not show the lock. */
  static find(place: string, byte: number): HeldLock | undefined {
    for (const descriptor of listDescriptors('self', place)) {
      const info = openInfo(descriptor)
      if (info === undefined) continue
      const lock = new HeldLock(place, byte, info)
      if (lock.#isHeld()) return lock
      lock.close()
    }
    return undefined
  }

  /** Throws BrokenError if the lock has ended. This takes about 3 microseconds. */
  assertHeld(): void {
    if (this.#isHeld()) return
    const why = 'code of this process has opened and closed that file, for example to copy it'
    throw new BrokenError(`the lock on ${this.#place} has ended`, why)
  }

  close(): void {
    closeSync(this.#info)
  }

  #isHeld(): boolean {
    for (const [, start, end] of this.#readText().matchAll(LOCK_LINES)) {
      if (Number(start) <= this.#byte && (end === 'EOF' || Number(end) >= this.#byte)) return true
    }
    return false
  }

  /** The text is empty if the descriptor itself was closed. */
  #readText(): string {
    try {
      return this.#text.toString('latin1', 0, readSync(this.#info, this.#text, 0, TEXT_BYTES, 0))
    } catch {
      return ''
    }
  }
}

function openInfo(descriptor: string): number | undefined {
  try {
    return openSync(`/proc/self/fdinfo/${descriptor}`, 'r')
  } catch {
    return undefined
  }
}

/** Lists the descriptors by which a process has this file open. The list is empty where the system does not show them. */
export function listDescriptors(process: number | 'self', place: string): readonly string[] {
  const folder = `/proc/${process}/fd`
  try {
    const name = basename(realpathSync(place))
    const { dev, ino } = statSync(place)
    return readdirSync(folder).filter((descriptor) => {
      // Only what has the name is looked at, since a descriptor of a network file system could hang.
      if (!readLink(`${folder}/${descriptor}`).endsWith(name)) return false
      const stats = statSync(`${folder}/${descriptor}`, { throwIfNoEntry: false })
      return stats?.ino === ino && stats.dev === dev
    })
  } catch {
    return []
  }
}

function readLink(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return ''
  }
}
