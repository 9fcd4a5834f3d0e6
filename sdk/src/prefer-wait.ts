const WAIT_MS_MAX = 60_000

/**
 * For a call that answers when the transaction is final: the header that asks for it, and how much longer it may
 * take.
 */
export interface PreferWait {
  readonly headers: Readonly<Record<string, string>>
  readonly longerMs: number
}

/** Throws a RangeError. */
export function assertWaitMs(waitMs: number): void {
  if (!(waitMs >= 0 && waitMs <= WAIT_MS_MAX)) throw new RangeError('waitMs must be from 0 to 60,000')
}

/** Throws a RangeError. Whole seconds go out. */
export function preferWait(waitMs: number): PreferWait {
  assertWaitMs(waitMs)
  const waitSeconds = Math.ceil(waitMs / 1000)
  if (waitSeconds === 0) return { headers: {}, longerMs: 0 }
  return { headers: { prefer: `wait=${waitSeconds}` }, longerMs: waitSeconds * 1000 }
}
