interface ColumnKind {
  /** `direct`: the gateway calls both services itself, one after the other. `baseline`: a relay that writes twice does. */
  readonly calls: 'direct' | 'baseline' | 'saga'
  readonly branch: 'plain' | 'barrier' | 'grouped'
  /** The number of pairs in each branch: a ledger row and an update of the balance. */
  readonly pairs: number
}

/** How the gateway gets both branches called, and how a branch does its part. */
export interface Column extends ColumnKind {
  readonly name: ColumnName
}

export const COLUMNS = [
  { name: 'none-2sql', calls: 'direct', branch: 'plain', pairs: 1 },
  { name: 'baseline-2sql', calls: 'baseline', branch: 'plain', pairs: 1 },
  { name: 'saga-2sql', calls: 'saga', branch: 'plain', pairs: 1 },
  { name: 'barrier-2sql', calls: 'saga', branch: 'barrier', pairs: 1 },
  { name: 'grouped-2sql', calls: 'saga', branch: 'grouped', pairs: 1 },
  { name: 'none-10sql', calls: 'direct', branch: 'plain', pairs: 5 },
  { name: 'saga-10sql', calls: 'saga', branch: 'plain', pairs: 5 },
  { name: 'barrier-10sql', calls: 'saga', branch: 'barrier', pairs: 5 },
] as const satisfies readonly (ColumnKind & { readonly name: string })[]

export type ColumnName = (typeof COLUMNS)[number]['name']

/** The paths of a saga's branches under a column's path; the action and its undo share one. */
export const SERVICES = ['trans-out', 'trans-in'] as const
export type ServiceName = (typeof SERVICES)[number]
