/** The copies of a finished row look as if they had finished one after the other over this time before it. */
const SPREAD_MS = 6 * 24 * 3_600_000

export interface CopiedRows {
  readonly from: number
  readonly to: number
}

/** Parts of at most `max`, the numbers 1 to `copies` once each. */
export function* splitCopies(copies: number, max: number): Generator<CopiedRows> {
  for (let from = 1; from <= copies; from += max) yield { from, to: Math.min(from + max - 1, copies) }
}

/**
 * How much earlier than the row itself its copy `number` was made: the first copy is the oldest, as rows come in.
 * Less than the retention, so that none is purged meanwhile.
 */
export function earlierMs(copies: number): { readonly firstMs: number; readonly stepMs: number } {
  const stepMs = Math.max(1, Math.floor(SPREAD_MS / copies))
  return { firstMs: stepMs * copies, stepMs }
}
