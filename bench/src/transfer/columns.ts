interface ColumnKind {
  /** `direct`: the gateway calls both services itself, one after the other. `storing`: a relay that writes twice does. */
  readonly calls: 'direct' | 'storing' | 'saga'
  /**
   * `noted`: one row of the barrier's table more, by hand, which no barrier can do without; `batched`: that, for many calls
   * at once; `idle`: answers and does nothing.
   */
  readonly branch: 'plain' | 'noted' | 'batched' | 'barrier' | 'grouped' | 'idle'
  /** Of a ledger row and an update of the balance, in each branch. */
  readonly pairs: number
}

/** How the gateway gets both branches called, and how a branch does its part. */
export interface Column extends ColumnKind {
  readonly name: ColumnName
}

type Columns = readonly (ColumnKind & { readonly name: string })[]

const NONE_2SQL = { name: 'none-2sql', calls: 'direct', branch: 'plain', pairs: 1 } as const
const STORING_2SQL = { name: 'storing-2sql', calls: 'storing', branch: 'plain', pairs: 1 } as const
const NONE_10SQL = { name: 'none-10sql', calls: 'direct', branch: 'plain', pairs: 5 } as const

export const COLUMNS = [
  NONE_2SQL,
  STORING_2SQL,
  { name: 'saga-2sql', calls: 'saga', branch: 'plain', pairs: 1 },
  { name: 'barrier-2sql', calls: 'saga', branch: 'barrier', pairs: 1 },
  { name: 'grouped-2sql', calls: 'saga', branch: 'grouped', pairs: 1 },
  NONE_10SQL,
  { name: 'saga-10sql', calls: 'saga', branch: 'plain', pairs: 5 },
  { name: 'barrier-10sql', calls: 'saga', branch: 'barrier', pairs: 5 },
] as const satisfies Columns

/** Plain programs in the place of the orchestrator and of the barrier, not the fastest possible. */
export const COLUMNS_BY_HAND = [
  NONE_2SQL,
  STORING_2SQL,
  { name: 'noted-2sql', calls: 'storing', branch: 'noted', pairs: 1 },
  { name: 'batched-2sql', calls: 'storing', branch: 'batched', pairs: 1 },
  { name: 'idle', calls: 'storing', branch: 'idle', pairs: 0 },
  NONE_10SQL,
  { name: 'storing-10sql', calls: 'storing', branch: 'plain', pairs: 5 },
  { name: 'noted-10sql', calls: 'storing', branch: 'noted', pairs: 5 },
] as const satisfies Columns

export type ColumnName = (typeof COLUMNS | typeof COLUMNS_BY_HAND)[number]['name']

/** The services and the gateway serve all; a run has the tables of its own columns alone. */
export const ALL_COLUMNS: readonly Column[] = [...new Set<Column>([...COLUMNS, ...COLUMNS_BY_HAND])]

/** Where a saga's branches lie under a column's path; the action and its undo share one. */
export const SERVICES = ['trans-out', 'trans-in'] as const
export type ServiceName = (typeof SERVICES)[number]
