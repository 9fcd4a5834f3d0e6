import type {
  CreateResult,
  DueClaim,
  DueClaimResult,
  DuePostponement,
  DuePostponementResult,
  NewTransaction,
  RenewResult,
  SingleClaim,
  SingleClaimResult,
  Store,
  StoreStats,
  TransactionUpdate,
  UpdateResult,
} from '@counterstep/core'

/** The place of a store for another process: a module, the name of its function that opens the store, and the options as JSON. */
export interface StorePlace {
  readonly moduleUrl: string
  readonly opener: string
  readonly options: unknown
}

/** One call of the store as a message. */
export type RaceCall =
  | { readonly verb: 'create'; readonly argument: NewTransaction }
  | { readonly verb: 'update'; readonly argument: TransactionUpdate }
  | { readonly verb: 'claim'; readonly argument: SingleClaim }
  | { readonly verb: 'claimDue'; readonly argument: DueClaim }
  | { readonly verb: 'postponeDue'; readonly argument: DuePostponement }
  | { readonly verb: 'renew'; readonly argument: Parameters<Store['renew']> }
  | { readonly verb: 'purgeFinished'; readonly argument: number }
  | { readonly verb: 'stats' }

export type RaceResult =
  | CreateResult
  | UpdateResult
  | SingleClaimResult
  | DueClaimResult
  | DuePostponementResult
  | RenewResult
  | { readonly purged: number }
  | StoreStats

/** The times are those of the machine's monotonic clock, which all its processes share. */
export interface RaceAnswer {
  readonly startedAt: number
  readonly endedAt: number
  readonly result?: RaceResult
  /** The error of the call. No call of a race may throw. */
  readonly error?: string
}

export type ToPeer =
  | { readonly type: 'open'; readonly place: StorePlace; readonly skewMs: number }
  | { readonly type: 'prepare'; readonly calls: readonly RaceCall[]; readonly inFlightMax: number }
  | { readonly type: 'go' }
  | { readonly type: 'close' }

export type FromPeer =
  | { readonly type: 'opened' }
  | { readonly type: 'prepared' }
  | { readonly type: 'answers'; readonly answers: readonly RaceAnswer[] }
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly error: string }
