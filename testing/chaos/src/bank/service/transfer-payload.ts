/** How a branch behaves besides what it does. */
export const MOODS = [
  'sound',
  /** The business says no, each time. */
  'refuses',
  /** The business says no half of the time. */
  'moody',
  /** Breaks half of the time, which means nothing. */
  'breaks',
  /** Half of the time it is not yet done. */
  'ongoing',
  /** Breaks until it is mended by a header. */
  'dead',
] as const
export type Mood = (typeof MOODS)[number]

/** A call with this header finds a dead branch sound. */
export const MENDED_HEADER = 'x-mended'

/** The JSON that a branch is called with. */
export interface TransferPayload {
  readonly account: string
  /** The amount that the action adds; the compensation takes it back. */
  readonly cents: number
  /** How long the bank takes before it looks. */
  readonly slowMs: number
  /** The mood of the action. A compensation knows no business failure. */
  readonly mood: Mood
  /** The hold that a capture or a release is about. In a release it is null where the orchestrator does not know it. */
  readonly hold?: string | null
  /** The payment that a refund is about, or `UNKNOWN`. */
  readonly payment?: string
}

/** The refund's URL has this in place of a payment that the orchestrator does not know. */
export const UNKNOWN = 'unknown'

export function readTransferPayload(body: unknown): TransferPayload {
  const { account, cents, slowMs, mood } = body as Readonly<Record<string, unknown>>
  if (typeof account !== 'string' || !Number.isSafeInteger(cents) || !Number.isSafeInteger(slowMs)) {
    throw new TypeError('the payload is no transfer')
  }
  if (!MOODS.some((each) => each === mood)) throw new TypeError('the payload has no mood')
  return body as TransferPayload
}
