import { type KeyFinder, readKeyFileText, type StoredKey } from '@counterstep/access'
import type { Logger } from '@counterstep/engine'
import { CounterstepError } from '@counterstep/protocol'
import type { ReadSecret } from './secrets.ts'

/** The keys are read again after this time, so a revoked key may still be accepted for as long. */
export const KEYS_FRESH_MS = 60_000
/** If the secret cannot be read, the keys that were read last stay valid for this long. */
export const KEYS_USABLE_MS = 600_000
/** After a failed read the next one waits for this long. */
export const KEYS_RETRY_MS = 5_000

/** Keeps the keys of a secret. Nothing runs between invocations, so each one first refreshes them if they are old. */
export class SecretKeys implements KeyFinder {
  readonly #arn: string
  readonly #readSecret: ReadSecret
  readonly #logger: Logger
  readonly #nowMs: () => number
  #keys: ReadonlyMap<string, StoredKey>
  #readAt: number
  #nextReadAt: number

  /** Reads the keys for the first time. Throws SAGA_KEYS_UNUSABLE, and the errors of `readSecret`. */
  static async open(
    arn: string,
    readSecret: ReadSecret,
    logger: Logger,
    nowMs = Date.now,
  ): Promise<SecretKeys> {
    return new SecretKeys(arn, readSecret, logger, nowMs, readKeyFileText(await readSecret(arn)))
  }

  private constructor(
    arn: string,
    readSecret: ReadSecret,
    logger: Logger,
    nowMs: () => number,
    keys: ReadonlyMap<string, StoredKey>,
  ) {
    this.#arn = arn
    this.#readSecret = readSecret
    this.#logger = logger
    this.#nowMs = nowMs
    this.#keys = keys
    this.#readAt = nowMs()
    this.#nextReadAt = this.#readAt + KEYS_FRESH_MS
  }

  find(id: string): StoredKey | undefined {
    return this.#keys.get(id)
  }

  /** Reads the keys again if they are old. Throws SAGA_KEYS_UNUSABLE when they are too old and cannot be read. */
  async refresh(): Promise<void> {
    if (this.#nowMs() >= this.#nextReadAt) await this.#read()
    if (this.#nowMs() - this.#readAt < KEYS_USABLE_MS) return
    throw new CounterstepError('SAGA_KEYS_UNUSABLE', 'the keys are too old, and cannot be read again')
  }

  async #read(): Promise<void> {
    try {
      this.#keys = readKeyFileText(await this.#readSecret(this.#arn))
      this.#readAt = this.#nowMs()
      this.#nextReadAt = this.#readAt + KEYS_FRESH_MS
    } catch (error: unknown) {
      this.#nextReadAt = this.#nowMs() + KEYS_RETRY_MS
      this.#logger.error({ err: error }, 'the keys cannot be read again')
    }
  }
}
