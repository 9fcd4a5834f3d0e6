/** How the gateway gets both branches called, and how a branch does its part. */
export interface Column {
  readonly name: string
  /** `direct`: the gateway calls both services itself, one after the other. `storing`: a relay that writes twice does. */
  readonly calls: 'direct' | 'storing' | 'saga'
  /** `noted`: one row of the barrier's table more, by hand, which no barrier can do without; `batched`: that, for many calls at once. `idle`: answers at once. */
  readonly branch: 'plain' | 'noted' | 'batched' | 'barrier' | 'grouped' | 'idle'
  /** Of a ledger row and an update of the balance, in each branch. */
  readonly pairs: number
}

export const COLUMNS = [
  { name: 'none-2sql', calls: 'direct', branch: 'plain', pairs: 1 },
  { name: 'storing-2sql', calls: 'storing', branch: 'plain', pairs: 1 },
  { name: 'saga-2sql', calls: 'saga', branch: 'plain', pairs: 1 },
  { name: 'barrier-2sql', calls: 'saga', branch: 'barrier', pairs: 1 },
  { name: 'grouped-2sql', calls: 'saga', branch: 'grouped', pairs: 1 },
  { name: 'none-10sql', calls: 'direct', branch: 'plain', pairs: 5 },
  { name: 'saga-10sql', calls: 'saga', branch: 'plain', pairs: 5 },
  { name: 'barrier-10sql', calls: 'saga', branch: 'barrier', pairs: 5 },
] as const satisfies readonly Column[]

/** Plain programs in the place of the orchestrator and of the barrier, not the fastest possible: they show what writes and calls alone cost. */
export const COLUMNS_BY_HAND = [
  { name: 'hand-none-2sql', calls: 'direct', branch: 'plain', pairs: 1 },
  { name: 'hand-storing-2sql', calls: 'storing', branch: 'plain', pairs: 1 },
  { name: 'hand-noted-2sql', calls: 'storing', branch: 'noted', pairs: 1 },
  { name: 'hand-batched-2sql', calls: 'storing', branch: 'batched', pairs: 1 },
  { name: 'hand-idle', calls: 'storing', branch: 'idle', pairs: 0 },
  { name: 'hand-none-10sql', calls: 'direct', branch: 'plain', pairs: 5 },
  { name: 'hand-storing-10sql', calls: 'storing', branch: 'plain', pairs: 5 },
  { name: 'hand-noted-10sql', calls: 'storing', branch: 'noted', pairs: 5 },
] as const satisfies readonly Column[]

/** Both services, the gateway and the tables know all. */
export const ALL_COLUMNS: readonly Column[] = [...COLUMNS, ...COLUMNS_BY_HAND]

/** Where a saga's branches lie under a column's path; the action and its undo share one. */
export const SERVICES = ['trans-out', 'trans-in'] as const
export type ServiceName = (typeof SERVICES)[number]
