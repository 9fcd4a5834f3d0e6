/** A question to the branch process, over its channel. */
export type BranchQuestion =
  | { readonly type: 'calls' }
  /** Makes the compensations that always failed succeed, and answers the calls that were not answered. */
  | { readonly type: 'heal' }
  /** Stops all answers until it is healed. */
  | { readonly type: 'hang' }

/** How often each op of one transaction was called: first action, second action, compensations. */
export type CallsOfGid = readonly [gid: string, first: number, second: number, undone: number]

export interface BranchAnswer {
  readonly calls: readonly CallsOfGid[]
}
