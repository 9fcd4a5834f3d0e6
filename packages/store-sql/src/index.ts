export { type ListScan, type OpenScan, readPage, SCAN_END_COLUMNS } from './list-page.ts'
export { renewInTries } from './renew-in-tries.ts'
export { CommitInDoubt, repeatTransaction } from './repeat-transaction.ts'
export { chooseTls, parseServerUrl, type TlsChoice, type TlsOptions } from './server-url.ts'
export { type PoolBounds, type PooledSession, SessionPool } from './session-pool.ts'
export {
  CONNECT_TIMEOUT_MS,
  type SessionTimeouts,
  STATEMENT_TIMEOUT_MS,
  toSessionTimeouts,
} from './session-timeouts.ts'
export {
  asOutcomeUnknown,
  isServerFault,
  SqlError,
  type SqlFault,
  toStall,
  toStoreError,
  UnsentError,
} from './sql-error.ts'
export {
  type Cell,
  LISTED_COLUMNS,
  type Row,
  STORED_COLUMNS,
  toListedTransaction,
  toStoredTransaction,
  toText,
} from './stored-row.ts'
export { STATS_COLUMNS, sumStats } from './sum-stats.ts'
export { type QueueBounds, type QueuedWrite, type Settlement, WriteQueue } from './write-queue.ts'
