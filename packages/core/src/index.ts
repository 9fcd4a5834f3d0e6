export { type AcceptIds, firstStatus, newTransaction, newTransactionRow, waitsMs } from './accept.ts'
export { beginsToNeedAttention } from './attention.ts'
export { HOT_FLOOR_MS, RETRY_BOUNDS, type RetryBounds, retryFloorMs } from './backoff.ts'
export { type CommandPlan, planCommand } from './command-row.ts'
export type {
  BranchTarget,
  Definition,
  MessageBranch,
  MessageCheck,
  MessageDefinition,
  SagaBranch,
  SagaDefinition,
  TccBranch,
  TccDefinition,
} from './definition.ts'
export {
  assertDocumentCategory,
  assertDocumentRemoval,
  assertDocumentWrite,
  compareByBytes,
  DOCUMENT_CATEGORY_CHARACTERS_MAX,
  DOCUMENT_KEY_CHARACTERS_MAX,
  DOCUMENT_TEXT_BYTES_MAX,
  DOCUMENTS_MAX,
  type DocumentRemoval,
  type DocumentRemovalResult,
  type DocumentWrite,
  type DocumentWriteResult,
  isDocumentKey,
  isDocumentText,
  type StoredDocument,
} from './documents.ts'
export { AssertionError, assert, StoreUnavailableError } from './errors.ts'
export type {
  CallKey,
  Command,
  Durability,
  HeldCall,
  TransactionEffect,
  TransactionEvent,
} from './events.ts'
export { holdBack } from './hold-back.ts'
export { holdDue } from './hold-due.ts'
export { judgeCommand } from './judge-command.ts'
export { CHECK, opOf } from './op-progress.ts'
export type {
  BranchAnswer,
  BranchCall,
  BranchCaller,
  Clock,
  FindOrigin,
  Ids,
  Look,
  RefuseCall,
  WakeUp,
} from './ports.ts'
export { decodeTransaction, encodeProgress, FORMAT, formatOf } from './record.ts'
export { REGISTERED_BYTES_MAX, REGISTERED_MAX, type Refusal, refusalOf } from './refuse-command.ts'
export { measureRoom, type RoomRate, UNMEASURED } from './room-rate.ts'
export { isBusy, roomWaitersMax, waitForRoomMs } from './room-wait.ts'
export {
  KIND_CODES,
  kindOfCode,
  SENT_LIST_CODES,
  STATUS_CODES,
  sentListOfCode,
  statusOfCode,
} from './row-codes.ts'
export { type FoldedTransaction, RULES, type Rules } from './rules.ts'
export {
  acceptedRun,
  type Grant,
  mayShow,
  type Run,
  type RunSettings,
} from './run.ts'
export type { RunEffect, RunEvent } from './run-events.ts'
export { isOverdue } from './saga-effects.ts'
export { type Step, stepRun, storeNow } from './step-run.ts'
export type {
  CreateResult,
  DueClaim,
  DueClaimResult,
  DuePostponement,
  DuePostponementResult,
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
  StoreEvent,
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
  POSTPONE_MAX,
  PURGE_MAX,
  READ_MANY_MAX,
  RENEW_MAX,
  STORE_EVENT_NAMES,
} from './store.ts'
export {
  assertDueClaim,
  assertDuePostponement,
  assertPurge,
  assertReadMany,
  assertRenew,
  assertUpdate,
} from './store-arguments.ts'
export type { CheckUrl, UrlRefusal } from './submission/parse-branch.ts'
export { isReservedHeader } from './submission/parse-headers.ts'
export { type ParsedRegistration, parseRegistration } from './submission/parse-registration.ts'
export {
  type ParsedSubmission,
  parseSubmission,
  type Submission,
  type SubmissionDefaults,
} from './submission/parse-submission.ts'
export { findUnplainIds } from './submission/plain-ids.ts'
export { REST_LEASES_MAX, type TakeOver, takeOver } from './take-over.ts'
export { nextTurnAt, paceWaitMs } from './target-pace.ts'
export {
  boundsUnderWay,
  mayTakePlace,
  mayTakeUnlistedPlace,
  SHARED_TARGETS,
  type ShareBounds,
  shareBounds,
  UNLISTED_TARGETS_MAX,
} from './target-share.ts'
export { textHash } from './text-hash.ts'
export type {
  AbortDecision,
  CalledOp,
  MessageTransaction,
  OpProgress,
  SagaBranchProgress,
  SagaOp,
  SagaTransaction,
  TccTransaction,
  Transaction,
} from './transaction.ts'
export { isFinal, targetsOf } from './transaction.ts'
export { viewTransaction } from './view.ts'
export { withoutQuery } from './without-query.ts'
