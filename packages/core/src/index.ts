export { AssertionError, assert, StoreUnavailableError } from './errors.ts'
export type { BranchAnswer, BranchCall, BranchCaller, Clock, Ids, WakeUp } from './ports.ts'
export type {
  CreateResult,
  DueClaim,
  DueClaimResult,
  DurabilityClass,
  Lease,
  ListCursor,
  ListedTransaction,
  ListQuery,
  ListResult,
  NewTransaction,
  RenewResult,
  SentList,
  SingleClaim,
  SingleClaimResult,
  Store,
  StoreCapabilities,
  StoredTransaction,
  StoreStats,
  TransactionUpdate,
  UpdateHold,
  UpdateResult,
} from './store.ts'
export {
  CLAIM_MAX,
  LIST_SCAN_MAX,
  NEVER_AT,
  PARKED_AT,
  PURGE_MAX,
  READ_MANY_MAX,
  RENEW_MAX,
} from './store.ts'
