/** A question to the branch process over its channel; each is answered with its `BranchCalls`. */
export type BranchQuestion =
  | { readonly type: 'hold' }
  | { readonly type: 'release' }
  /** Counts from zero after it, if asked to forget. */
  | { readonly type: 'count'; readonly thenForget: boolean }

export interface BranchCalls {
  /** Answered ones. */
  readonly calls: number
  /** Instants of answers, in milliseconds from the epoch. */
  readonly firstAt: number | null
  readonly lastAt: number | null
  /** Calls that came and got no answer yet. */
  readonly held: number
}
