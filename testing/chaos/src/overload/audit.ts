/** Checks the rules that hold under any load: each breach is one sentence. */
import type { CallsOfGid } from './branch-question.ts'
import type { StoredRow } from './stored-rows.ts'
import type { Submitted } from './submitter.ts'

export interface Evidence {
  readonly submitted: readonly Submitted[]
  readonly calls: readonly CallsOfGid[]
  readonly rows: readonly StoredRow[]
}

export interface Audit {
  readonly accepted: number
  readonly refused: number
  /** Neither: no answer, or one that leaves it open. */
  readonly unclear: number
  /** Accepted, and not in the store or not final there. */
  readonly lost: number
  /** Refused, and yet in the store or at a branch. */
  readonly refusedThatRan: number
  /** Accepted and final, and not both branches were called. */
  readonly unfinishedWork: number
  /** Calls beyond the first of an action. */
  readonly repeatedCalls: number
}

/** Each says that nothing was stored. Any other 503 leaves it open: the same has to be submitted again. */
const REFUSALS: ReadonlySet<string> = new Set([
  'SAGA_OVER_CAPACITY',
  'SAGA_TARGET_OVER_CAPACITY',
  'SAGA_NOT_ACCEPTED',
  'SAGA_STOPPING',
])

export function isRefused({ code }: Submitted): boolean {
  return code !== undefined && REFUSALS.has(code)
}

export function isAccepted({ statusCode }: Submitted): boolean {
  return statusCode === 200 || statusCode === 202
}

export function audit({ submitted, calls, rows }: Evidence): Audit {
  const callsByGid = new Map(calls.map((call) => [call[0], call]))
  const rowByGid = new Map(rows.map((row) => [row.gid, row]))
  const accepted = submitted.filter(isAccepted)
  const refused = submitted.filter(isRefused)
  const wasCalledWhole = ({ gid }: Submitted) => {
    const [, first, second] = callsByGid.get(gid) ?? [gid, 0, 0]
    return first > 0 && second > 0
  }
  return {
    accepted: accepted.length,
    refused: refused.length,
    unclear: submitted.length - accepted.length - refused.length,
    lost: accepted.filter(({ gid }) => rowByGid.get(gid)?.isFinal !== true).length,
    refusedThatRan: refused.filter(({ gid }) => rowByGid.has(gid) || callsByGid.has(gid)).length,
    unfinishedWork: accepted.filter((each) => !wasCalledWhole(each)).length,
    repeatedCalls: calls.reduce(
      (sum, [, first, second]) => sum + Math.max(0, first - 1) + Math.max(0, second - 1),
      0,
    ),
  }
}
