/** How the gateway gets both branches called, and how a branch does its part. */
export const COLUMN_NAMES = [
  'none-2sql',
  'storing-2sql',
  'saga-2sql',
  'barrier-2sql',
  'grouped-2sql',
  'none-10sql',
  'saga-10sql',
  'barrier-10sql',
] as const
export type ColumnName = (typeof COLUMN_NAMES)[number]

export interface Column {
  readonly name: ColumnName
  /** `direct`: the gateway calls both services itself, one after the other. `storing`: a relay that writes twice does. */
  readonly calls: 'direct' | 'storing' | 'saga'
  readonly branch: 'plain' | 'barrier' | 'grouped'
  /** Of a ledger row and an update of the balance, in each branch. */
  readonly pairs: number
}

export const COLUMNS: readonly Column[] = [
  { name: 'none-2sql', calls: 'direct', branch: 'plain', pairs: 1 },
  { name: 'storing-2sql', calls: 'storing', branch: 'plain', pairs: 1 },
  { name: 'saga-2sql', calls: 'saga', branch: 'plain', pairs: 1 },
  { name: 'barrier-2sql', calls: 'saga', branch: 'barrier', pairs: 1 },
  { name: 'grouped-2sql', calls: 'saga', branch: 'grouped', pairs: 1 },
  { name: 'none-10sql', calls: 'direct', branch: 'plain', pairs: 5 },
  { name: 'saga-10sql', calls: 'saga', branch: 'plain', pairs: 5 },
  { name: 'barrier-10sql', calls: 'saga', branch: 'barrier', pairs: 5 },
]

/** Where a saga's branches lie under a column's path; the action and its undo share one. */
export const SERVICES = ['trans-out', 'trans-in'] as const
export type ServiceName = (typeof SERVICES)[number]
