/** A request before it is written down, so that one thing of it can still be changed. */
export interface Draft {
  readonly method: string
  /** Segments of the path, not yet encoded. */
  readonly segments: readonly string[]
  readonly query: readonly (readonly [string, string])[]
  readonly headers: readonly (readonly [string, string])[]
  readonly json: unknown
}

export interface Surroundings {
  /** A branch answers 200 there. No request names any other host. */
  readonly branchUrl: string
  /** Transactions that are there. */
  readonly gids: readonly string[]
}
