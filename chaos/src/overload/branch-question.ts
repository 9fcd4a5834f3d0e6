/** What is asked of the branch process, over its channel. */
export type BranchQuestion =
  | { readonly type: 'calls' }
  /** From now on the compensations that always failed succeed. */
  | { readonly type: 'heal' }

/** How often each op of one transaction was called: first action, second action, compensations. */
export type CallsOfGid = readonly [gid: string, first: number, second: number, undone: number]

export interface BranchAnswer {
  readonly calls: readonly CallsOfGid[]
}
