const WAIT_MS_MAX = 60_000

/**
 * The header with which a call asks for an answer only when the transaction is final, and how much longer such a call
 * may take.
 */
export interface PreferWait {
  readonly headers: Readonly<Record<string, string>>
  readonly longerMs: number
}

/** Throws a RangeError. */
export function assertWaitMs(waitMs: number): void {
  if (!(waitMs >= 0 && waitMs <= WAIT_MS_MAX)) throw new RangeError('waitMs must be from 0 to 60,000')
}

/** Builds the header, which has whole seconds. Throws a RangeError. */
export function buildPreferWait(waitMs: number): PreferWait {
  assertWaitMs(waitMs)
  const waitSeconds = Math.ceil(waitMs / 1000)
  if (waitSeconds === 0) return { headers: {}, longerMs: 0 }
  return { headers: { prefer: `wait=${waitSeconds}` }, longerMs: waitSeconds * 1000 }
}
