import type { BranchService } from './branch-service.ts'

/**
 * Which branch a call is for.
 *
 * @example
 * ```ts
 * const read = ({ gid }: BranchIds) => ledger.filter((row) => row.gid === gid).length
 * ```
 */
export interface BranchIds {
  readonly gid: string
  readonly branchId: string
}

/**
 * A service, and all that the kit has to know of it. No other process may change the value of `read` while the kit
 * runs, and the account (the stock, the seats) has to bear five actions at once; each is compensated in the end.
 *
 * @example
 * ```ts
 * const debit: BranchUnderTest = {
 *   service: { url: 'http://127.0.0.1:3000' },
 *   action: '/debit',
 *   compensation: '/debit-undo',
 *   payload: { account: 'alice', cents: 100 },
 *   read: () => balanceOf('alice'),
 *   refusedPayload: { account: 'alice', cents: 1_000_000_000 },
 *   drain: () => setBalance('alice', 0),
 * }
 * ```
 */
export interface BranchUnderTest {
  readonly service: BranchService
  /** This is a path of the service, or a whole URL. */
  readonly action: string
  /** This is a path of the service, or a whole URL. May be the action's. */
  readonly compensation: string
  /** `saga` calls `action` and `compensate`, `tcc` calls `try` and `cancel`. The default is `saga`. */
  readonly kind?: 'saga' | 'tcc'
  /**
   * JSON that the business allows, sent to both; or a function that makes it, if each transaction needs its own.
   * The default is `{}`, which is what the orchestrator sends for a branch without one.
   */
  readonly payload?: unknown
  /** They are sent with each call, for example `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Returns a value in which the effect can be seen, of any kind that JSON can hold: a balance, a count of rows, the
   * rows. Numbers (also decimal texts and bigints) are compared by their difference, lists by their length, and all
   * else by its old and new value. The kit learns the change of one action by running one. Leave out times and
   * generated ids. A committed effect should be seen at once. If it lags, it has to do so from the first effects on:
   * each step is then given twice the longest lag that was seen, and the run takes some 250 times that lag (at least
   * of 20 ms). It must not go back, as several replicas behind one address do. Both the action and its compensation
   * have to change it.
   */
  readonly read: (branch: BranchIds) => unknown
  /** JSON that the business refuses: without it (and without `drain`) nothing is known of failures. */
  readonly refusedPayload?: unknown
  /**
   * The action is also the pivot of a saga or of a workflow, or a branch without a compensation: a refusal of it has to be
   * kept. Needs `refusedPayload`.
   */
  readonly isPivot?: boolean
  /**
   * Makes an action hard to undo, for instance spends what it credited or sells the seats that it set free. The
   * action itself must still be possible then. Give it where the action brings something; where it takes something,
   * give `drain`.
   */
  readonly spend?: () => unknown
  /**
   * Makes the business refuse from now on the action that it allowed before, for instance by emptying the account,
   * or by a debt where there can be one, into which a compensation must still give back. Run last.
   */
  readonly drain?: () => unknown
  /**
   * Makes the service meet an internal error (a table renamed, a database paused) until `end`. Without it a broken
   * payload is the only error that the kit can bring about, and a service that checks its payloads shows nothing then.
   */
  readonly outage?: { readonly begin: () => unknown; readonly end: () => unknown }
  /** Calls sent at once. The default is 6. */
  readonly width?: number
  /** Says how often each kind of concurrency is tried. The default is 3. */
  readonly rounds?: number
  /**
   * Says how long one call may take, in milliseconds. The default is 60,000. A service that is slower than this is
   * not called wrong: the check ends as `undecided`.
   */
  readonly callTimeoutMs?: number
  /**
   * Says how often a call that is answered 425, 429 or 5xx is sent until that answer is taken as final. The default
   * is 6.
   */
  readonly attemptsMax?: number
  /** Says how late after the answer an effect may be seen at most, in milliseconds. The default is 2,000. */
  readonly settleMs?: number
  /**
   * Says how long after the call a late duplicate comes, in milliseconds: choose it longer than the life of a cache that
   * remembers calls. Production repeats a call for hours. The default is 0: no late duplicate is sent. It is waited for
   * once.
   */
  readonly lingerMs?: number
  /**
   * The largest payload that clients send to the branch, in bytes. The default is 204,800; the orchestrator takes up to
   * 262,144. A body of this size is the usual payload with white space behind it.
   */
  readonly payloadBytesMax?: number
  /**
   * The time limit of the whole run, in milliseconds. The default is 600,000. A check that is not done by then is
   * `undecided`.
   */
  readonly timeLimitMs?: number
}

const DEFAULTS = {
  kind: 'saga',
  payload: {},
  headers: {},
  width: 6,
  rounds: 3,
  callTimeoutMs: 60_000,
  attemptsMax: 6,
  settleMs: 2_000,
  lingerMs: 0,
  payloadBytesMax: 204_800,
  timeLimitMs: 600_000,
} as const
const SMALLEST = {
  width: 2,
  rounds: 1,
  callTimeoutMs: 1,
  attemptsMax: 1,
  settleMs: 0,
  lingerMs: 0,
  payloadBytesMax: 1,
  timeLimitMs: 1,
} as const

export type CompleteBranch = BranchUnderTest & Required<Pick<BranchUnderTest, keyof typeof DEFAULTS>>

/** Checks a number of the options. Throws a TypeError for one that is none. */
export function withDefaults(branch: BranchUnderTest): CompleteBranch {
  const complete = { ...DEFAULTS, ...branch }
  for (const [name, least] of Object.entries(SMALLEST)) {
    const value = complete[name as keyof typeof SMALLEST]
    if (!Number.isSafeInteger(value) || value < least) {
      throw new TypeError(`${name} must be a whole number of at least ${least}`)
    }
  }
  return complete
}
