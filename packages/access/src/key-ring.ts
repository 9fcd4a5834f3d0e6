import { stat } from 'node:fs/promises'
import { buildVersion, KeyFileReplacedError, openKeyFile } from './open-key-file.ts'
import type { StoredKey } from './stored-key.ts'

/** A revoked key may still be accepted for this long. */
export const KEY_FILE_POLL_MS = 1_000

export interface KeyFinder {
  find(id: string): StoredKey | undefined
  /** Lists all keys, for people. It is absent where keys cannot be listed. */
  list?(): readonly StoredKey[]
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
  /** The keys were read from this version of the file. */
  #version: string
  /** This problem was reported last, and is not reported again until the file has been usable in between. */
  #reportedProblem: string | undefined
  readonly #read: typeof openKeyFile
  #refreshing: Promise<void> | undefined

  /** Reads the keys for the first time. Throws SAGA_KEYS_UNUSABLE, since a server does not start without its keys. */
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
    // The file is checked by a timer. If requests checked it, the first request after a quiet hour would still be
    // accepted with a key that was revoked in that hour.
    this.#timer = setInterval(() => void this.refresh(), KEY_FILE_POLL_MS)
    this.#timer.unref()
  }

  get size(): number {
    return this.#keys.size
  }

  find(id: string): StoredKey | undefined {
    return this.#keys.get(id)
  }

  list(): readonly StoredKey[] {
    return [...this.#keys.values()]
  }

  /** Reads the file again now if it has changed. The promise never rejects. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#readIfChanged().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #readIfChanged(): Promise<void> {
    const version = await stat(this.#path, { bigint: true }).then(buildVersion, String)
    if (version === this.#version) return
    try {
      const file = await this.#read(this.#path)
      this.#version = file.version
      this.#keys = file.keys
      this.#reportedProblem = undefined
      this.#events.onRead(file.keys.size)
    } catch (error: unknown) {
      // The keys were changed for certain, and this process cannot see which of them are revoked.
      if (error instanceof KeyFileReplacedError) this.#keys = new Map()
      // The old version stays, so that the next check reads the file again, even if it has not changed: perhaps only
      // this process had no descriptor left.
      const problem = String(error)
      if (problem !== this.#reportedProblem) this.#events.onBroken(error)
      this.#reportedProblem = problem
    }
  }
}
