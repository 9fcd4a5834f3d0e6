import { type Spread, toSpread } from '../../spread.ts'

/** Accept and finish: what a saga cannot do without. */
export const FLUSHES = 2
export const BEYOND_MS = 0.3

/** Medians in milliseconds, round by round. */
export interface ComparedP50s {
  readonly relay: Spread
  readonly writing: Spread
  readonly commit: Spread
}

/** The ratio is at most 1 when the latency is within the bound. */
export function boundRatio(p50s: ComparedP50s): Spread {
  return each(p50s, (moreMs, commitMs) => moreMs / (FLUSHES * commitMs + BEYOND_MS))
}

export function flushRatio(p50s: ComparedP50s): Spread {
  return each(p50s, (moreMs, commitMs) => moreMs / commitMs)
}

function each(
  { relay, writing, commit }: ComparedP50s,
  quotient: (moreMs: number, commitMs: number) => number,
): Spread {
  return toSpread(
    writing.rounds.map((writingMs, round) => {
      const [relayMs = Number.NaN, commitMs = Number.NaN] = [relay.rounds[round], commit.rounds[round]]
      return quotient(writingMs - relayMs, commitMs)
    }),
  )
}
