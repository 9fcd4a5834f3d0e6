import { stat } from 'node:fs/promises'
import { buildVersion, openKeyFile } from './open-key-file.ts'
import type { StoredKey } from './stored-key.ts'

/** A revoked key may still be accepted for this long. */
export const KEY_FILE_POLL_MS = 1_000

export interface KeyFinder {
  find(id: string): StoredKey | undefined
}

export interface KeyRingEvents {
  onRead(keys: number): void
  /** Reports that the file cannot be used as it is now. The keys that were read before stay in force. */
  onBroken(error: unknown): void
}

/** Holds the keys of a file, and reads them again when the file has changed. */
export class KeyRing implements KeyFinder {
  readonly #path: string
  readonly #events: KeyRingEvents
  readonly #timer: NodeJS.Timeout
  #keys: ReadonlyMap<string, StoredKey>
  /** The version of the file that these keys were read from. */
  #version: string
  /** The last problem that was reported, until the file can be used again. It is not reported twice in a row. */
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
    // A request does not look at the file: the first one after a quiet hour would still accept a key that was revoked
    // in that hour.
    this.#timer = setInterval(() => void this.refresh(), KEY_FILE_POLL_MS)
    this.#timer.unref()
  }

  get size(): number {
    return this.#keys.size
  }

  find(id: string): StoredKey | undefined {
    return this.#keys.get(id)
  }

  /** Looks at the file now. The promise never rejects. */
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
    const version = await stat(this.#path, { bigint: true }).then(buildVersion, String)
    if (version === this.#version) return
    try {
      const file = await this.#read(this.#path)
      this.#version = file.version
      this.#keys = file.keys
      this.#told = undefined
      this.#events.onRead(file.keys.size)
    } catch (error: unknown) {
      // The next look reads the file again, even if it has not changed: perhaps only this process had no descriptor
      // left.
      const problem = String(error)
      if (problem !== this.#told) this.#events.onBroken(error)
      this.#told = problem
    }
  }
}
