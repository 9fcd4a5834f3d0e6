import { stat } from 'node:fs/promises'
import { openKeyFile, versionOf } from './open-key-file.ts'
import type { StoredKey } from './stored-key.ts'

/** How long a revoked key may still be taken. */
export const KEY_FILE_POLL_MS = 1_000

export interface KeyFinder {
  find(id: string): StoredKey | undefined
}

export interface KeyRingEvents {
  onRead(keys: number): void
  /** The file cannot be used as it is now; the keys read before stay in force. */
  onBroken(error: unknown): void
}

/** The keys of a file, read again when it has changed. */
export class KeyRing implements KeyFinder {
  readonly #path: string
  readonly #events: KeyRingEvents
  readonly #timer: NodeJS.Timeout
  #keys: ReadonlyMap<string, StoredKey>
  /** Of the file whose keys these are. */
  #version: string
  /** What was told of a file that could not be used, until one can be. */
  #told: string | undefined
  readonly #read: typeof openKeyFile
  #looking: Promise<void> | undefined

  /** Throws SAGA_KEYS_UNUSABLE: a server does not start without its keys. */
  static async open(path: string, events: KeyRingEvents, read = openKeyFile): Promise<KeyRing> {
    return new KeyRing(path, await read(path), events, read)
  }

  private constructor(
    path: string,
    { keys, version }: Awaited<ReturnType<typeof openKeyFile>>,
    events: KeyRingEvents,
    read: typeof openKeyFile,
  ) {
    this.#path = path
    this.#keys = keys
    this.#version = version
    this.#events = events
    this.#read = read
    // Not on a request's way: the first one after a quiet hour would still see a key that was revoked in it.
    this.#timer = setInterval(() => void this.refresh(), KEY_FILE_POLL_MS)
    this.#timer.unref()
  }

  get size(): number {
    return this.#keys.size
  }

  find(id: string): StoredKey | undefined {
    return this.#keys.get(id)
  }

  /** Looks at the file now. Never rejects. */
  refresh(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    const version = await stat(this.#path, { bigint: true }).then(versionOf, String)
    if (version === this.#version) return
    try {
      const file = await this.#read(this.#path)
      this.#version = file.version
      this.#keys = file.keys
      this.#told = undefined
      this.#events.onRead(file.keys.size)
    } catch (error: unknown) {
      // Looked at again, though it stays as it is: perhaps it was only this process that had no descriptor left.
      const problem = String(error)
      if (problem !== this.#told) this.#events.onBroken(error)
      this.#told = problem
    }
  }
}
