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
  /** Of the file that was looked at last, usable or not. */
  #version: string
  #looking: Promise<void> | undefined

  /** Throws SAGA_KEYS_UNUSABLE: a server does not start without its keys. */
  static async open(path: string, events: KeyRingEvents): Promise<KeyRing> {
    const { keys, version } = await openKeyFile(path)
    return new KeyRing(path, keys, version, events)
  }

  private constructor(
    path: string,
    keys: ReadonlyMap<string, StoredKey>,
    version: string,
    events: KeyRingEvents,
  ) {
    this.#path = path
    this.#keys = keys
    this.#version = version
    this.#events = events
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
    this.#version = version
    try {
      const file = await openKeyFile(this.#path)
      this.#version = file.version
      this.#keys = file.keys
      this.#events.onRead(file.keys.size)
    } catch (error: unknown) {
      this.#events.onBroken(error)
    }
  }
}
