import { type KeyFinder, readKeyFileText, type StoredKey } from '@counterstep/access'
import type { Logger } from '@counterstep/engine'
import { CounterstepError } from '@counterstep/protocol'
import type { ReadSecret } from './secrets.ts'

/** The keys are read again after this time, so a revoked key may still be accepted for as long. */
export const KEYS_FRESH_MS = 60_000
/** If the secret cannot be read, the keys that were read last stay valid for this long. */
export const KEYS_USABLE_MS = 600_000
/** After a read that failed or took too long, the next one begins after this time, and after twice as long each time. */
export const KEYS_RETRY_MS = 5_000
/** A request waits for a read no longer than this while the keys that it knows are valid. */
export const KEYS_WAIT_MS = 500
/** A request waits no longer than this where the keys that it knows are too old. */
export const KEYS_WAIT_TOO_OLD_MS = 5_000

/**
 * Keeps the keys of a secret. Nothing runs between invocations, so each one first refreshes them if they are old. While
 * the known keys are valid, a read that takes long goes on beside the requests, which use the known keys.
 */
export class SecretKeys implements KeyFinder {
  readonly #arn: string
  readonly #readSecret: ReadSecret
  readonly #logger: Logger
  readonly #nowMs: () => number
  #keys: ReadonlyMap<string, StoredKey>
  /** The instant at which the read of these keys began. The secret may have changed since then. */
  #readAt: number
  #nextReadAt: number
  #retryMs = KEYS_RETRY_MS
  /** Ends the newest read. */
  #reading = new AbortController()

  /** Reads the keys for the first time. Throws SAGA_KEYS_UNUSABLE, and the errors of `readSecret`. */
  static async open(
    arn: string,
    readSecret: ReadSecret,
    logger: Logger,
    nowMs = Date.now,
  ): Promise<SecretKeys> {
    const readAt = nowMs()
    return new SecretKeys(arn, readSecret, logger, nowMs, readKeyFileText(await readSecret(arn)), readAt)
  }

  private constructor(
    arn: string,
    readSecret: ReadSecret,
    logger: Logger,
    nowMs: () => number,
    keys: ReadonlyMap<string, StoredKey>,
    readAt: number,
  ) {
    this.#arn = arn
    this.#readSecret = readSecret
    this.#logger = logger
    this.#nowMs = nowMs
    this.#keys = keys
    this.#readAt = readAt
    this.#nextReadAt = readAt + KEYS_FRESH_MS
  }

  find(id: string): StoredKey | undefined {
    return this.#keys.get(id)
  }

  /**
   * Reads the keys again if they are old, and waits for that for a bounded time. Throws SAGA_KEYS_UNUSABLE when they are
   * too old and cannot be read in that time.
   */
  async refresh(): Promise<void> {
    const now = this.#nowMs()
    if (now >= this.#nextReadAt) await this.#readInTime(now)
    if (this.#isUsable(this.#nowMs())) return
    throw new CounterstepError('SAGA_KEYS_UNUSABLE', 'the keys are too old, and cannot be read again')
  }

  #isUsable(now: number): boolean {
    return now - this.#readAt < KEYS_USABLE_MS
  }

  async #readInTime(now: number): Promise<void> {
    const waitMs = this.#isUsable(now) ? KEYS_WAIT_MS : KEYS_WAIT_TOO_OLD_MS
    this.#postponeNextRead(now)
    // A read that began in an earlier invocation was frozen with it, and its connection may be gone.
    this.#reading.abort()
    this.#reading = new AbortController()
    if (await endsWithin(waitMs, this.#read(now, this.#reading.signal))) return
    // This wait was as long as the pause. Without more of it, each request that comes next would wait as long.
    if (!this.#isUsable(now)) this.#nextReadAt += waitMs
    this.#logger.warn({ waitMs }, 'the keys take long to be read again')
  }

  /** Each pause is twice as long as the one before it, so that requests seldom wait for a secret that hangs. */
  #postponeNextRead(now: number): void {
    if (!this.#isUsable(now)) {
      this.#nextReadAt = now + KEYS_RETRY_MS
      return
    }
    this.#nextReadAt = Math.min(now + this.#retryMs, this.#readAt + KEYS_USABLE_MS)
    this.#retryMs = Math.min(this.#retryMs * 2, KEYS_FRESH_MS)
  }

  /** Never rejects. */
  async #read(startedAt: number, signal: AbortSignal): Promise<void> {
    try {
      const keys = readKeyFileText(await this.#readSecret(this.#arn, signal))
      // A read that was given up may end after one that began later.
      if (startedAt <= this.#readAt) return
      this.#keys = keys
      this.#readAt = startedAt
      this.#nextReadAt = startedAt + KEYS_FRESH_MS
      this.#retryMs = KEYS_RETRY_MS
    } catch (error: unknown) {
      this.#logger.error({ err: error }, 'the keys cannot be read again')
    }
  }
}

/** Tells whether the work ends within this time. It goes on if it does not. */
async function endsWithin(waitMs: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, waitMs, false)
  })
  try {
    return await Promise.race([work.then(() => true), tooLong])
  } finally {
    clearTimeout(timer)
  }
}
