export {
  type AlertCase,
  type AlertState,
  NO_ALERTS,
  type PendingAlert,
  readAlertState,
  type TargetHour,
  writeAlertState,
} from './alerts/alert-state.ts'
export {
  type AlertFinding,
  type AlertObservation,
  type AlertRuleSettings,
  FAILED_WINDOW_MS,
  findAlerts,
  PAUSED_MS_MAX,
  type RowGroup,
  UNFINISHED_MS_MAX,
} from './alerts/find-alerts.ts'
export {
  ALERT_KEPT_MS,
  type AlertSample,
  type AlertTargetRules,
  type DueAlert,
  foldAlerts,
  queueAlert,
  queueDigests,
} from './alerts/fold-alerts.ts'
export {
  type AlertFilter,
  type FilteredSample,
  listLateFilters,
  queueLateAlerts,
} from './alerts/late-alerts.ts'
export {
  BULK_DRAFT_MS,
  BULK_KEPT_MAX,
  BULK_KEPT_MS,
  BULK_RUNNING_MAX,
  type BulkCounts,
  type BulkFate,
  type BulkJob,
  type BulkPart,
  countFates,
  hasBulkEnded,
  isAbandonedDraft,
  splitIntoParts,
  withFates,
} from './bulk/bulk-job.ts'
export { judgeFate } from './bulk/judge-fate.ts'
export { type BulkStep, commandBulk, planBulk } from './bulk/plan-bulk.ts'
export {
  countHeldTime,
  type HeldBounds,
  type HeldTime,
  heldBoundsOfTarget,
  heldBoundsOfUnlisted,
  mayHold,
  NOTHING_HELD,
  readHeldMs,
} from './bulkhead/held-time.ts'
export { holdBack } from './bulkhead/hold-back.ts'
export { type LargeRowTurn, takeLargeRowTurn } from './bulkhead/large-row-pace.ts'
export { type LiveTurn, takeLiveTurn } from './bulkhead/live-pace.ts'
export { computePlanRestMs, countPlanTurnPlaces } from './bulkhead/plan-pace.ts'
export { measureRoom, type RoomRate, UNMEASURED } from './bulkhead/room-rate.ts'
export { isBusy, roomWaitersMax, waitForRoomMs } from './bulkhead/room-wait.ts'
export { nextTurnAt, paceWaitMs } from './bulkhead/target-pace.ts'
export {
  mayTakePlace,
  mayTakeUnlistedPlace,
  SHARED_TARGETS,
  type ShareBounds,
  shareBounds,
  toBoundsUnderWay,
  UNLISTED_TARGETS_MAX,
} from './bulkhead/target-share.ts'
export { type CommandPlan, planCommand, takeAsSent } from './commands/command-row.ts'
export { judgeCommand } from './commands/judge-command.ts'
export { isPlanChanged, type Plan, planNext, toPreviewCommand } from './commands/plan.ts'
export {
  type CommandRefusal,
  findRefusal,
  REGISTERED_BYTES_MAX,
  REGISTERED_MAX,
  type Refusal,
} from './commands/refuse-command.ts'
export type {
  BranchTarget,
  Definition,
  MessageBranch,
  MessageCheck,
  MessageDefinition,
  RecordedDefinition,
  RegisteredBranch,
  RequestTemplate,
  SagaBranch,
  SagaDefinition,
  TccBranch,
  TccDefinition,
  TraceContext,
  ValueReference,
  Wait,
  XaBranch,
  XaDefinition,
} from './definition.ts'
export { hasTwoPhases } from './definition.ts'
export { AssertionError, assert, StoreUnavailableError } from './errors.ts'
export { isJsonRpc, isJsonRpcPayload, readJsonRpcAnswer } from './json-rpc.ts'
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
} from './ports/documents.ts'
export { buildDueClaimResult } from './ports/due-claim.ts'
export { goesOnScanning } from './ports/goes-on-scanning.ts'
export { matchesFilters } from './ports/match-listed.ts'
export { isSent, NOT_SENT } from './ports/not-sent.ts'
export type {
  BranchAnswer,
  BranchCall,
  BranchCaller,
  Clock,
  FindOrigin,
  Ids,
  OriginLoad,
  RefuseCall,
  WakeUpQueue,
  WakeUpRequest,
} from './ports/ports.ts'
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
  ListOrder,
  ListQuery,
  ListResult,
  Mark,
  NewTransaction,
  RenewResult,
  SentList,
  SingleClaim,
  SingleClaimResult,
  Store,
  StoreCapabilities,
  StoredProblem,
  StoredTransaction,
  StoreEvent,
  StoreStats,
  Tags,
  TransactionUpdate,
  UpdateHold,
  UpdateResult,
} from './ports/store.ts'
export {
  CLAIM_BYTES_MAX,
  CLAIM_MAX,
  LIST_PIECE_ROWS,
  LIST_SCAN_MAX,
  LIST_SCAN_MS_MAX,
  MARKS,
  NEVER_AT,
  PARKED_AT,
  POSTPONE_MAX,
  PURGE_MAX,
  READ_MANY_MAX,
  RENEW_MAX,
  STORE_EVENT_NAMES,
} from './ports/store.ts'
export {
  assertDueClaim,
  assertDuePostponement,
  assertPurge,
  assertReadMany,
  assertRenew,
  assertUpdate,
} from './ports/store-arguments.ts'
export { toListed } from './ports/to-listed.ts'
export { countShownCharacters } from './record/count-shown-characters.ts'
export { describeTrouble, describeUnreadable, type Trouble } from './record/describe-trouble.ts'
export { findContentEdit, findEdit } from './record/edits.ts'
export { findCallUrl } from './record/find-call-url.ts'
export { foldProblems, OTHER_PROBLEMS } from './record/fold-problems.ts'
export { columnToText, textToColumn } from './record/nul-text.ts'
export { decodeTransaction, encodeProgress, FORMAT, toFormat } from './record/record.ts'
export {
  KIND_CODES,
  MARK_BITS,
  SENT_LIST_CODES,
  STATUS_CODES,
  toKind,
  toMarkBits,
  toMarks,
  toSentList,
  toStatus,
} from './record/row-codes.ts'
export { readServiceName } from './record/service-name.ts'
export { decodeTags, encodeTags, toTagParts, toTagWords } from './record/tags-column.ts'
export { toDueColumn } from './record/to-due-column.ts'
export { findEntry, viewTrail } from './record/trail.ts'
export { viewTransaction } from './record/view.ts'
export { withoutQuery } from './record/without-query.ts'
export { type AcceptIds, firstStatus, newTransaction, newTransactionRow, waitsMs } from './rules/accept.ts'
export { RETRY_BOUNDS, type RetryBounds, retryFloorMs, SLOW_FLOOR_MS } from './rules/backoff.ts'
export type {
  CallKey,
  Command,
  Durability,
  Given,
  GivenCommand,
  HeldCall,
  OpCommand,
  RecordedEnd,
  TransactionEffect,
  TransactionEvent,
} from './rules/events.ts'
export { hasHungBefore, hasLastAttemptHung, mayHangNext } from './rules/hung-attempt.ts'
export { CHECK, findOp, findPolicy, listCalls, PLAN } from './rules/op-progress.ts'
export { isGiven } from './rules/operator-commands.ts'
export { CONFIRMATION, findNamedOp } from './rules/operator-ops.ts'
export { isPaused } from './rules/pause.ts'
export { type FoldedTransaction, RULES, type Rules } from './rules/rules.ts'
export { countSignalBytes } from './rules/saga-signals.ts'
export { chooseOp } from './rules/two-phase.ts'
export { hasNoUndo, mustUndo } from './rules/undo-of-call.ts'
export { foldWorkflow } from './rules/workflow.ts'
export {
  acceptPlan,
  mayOpenPlan,
  openPlan,
  type Plan as WorkflowPlan,
  type ReadPlan,
} from './rules/workflow-plan.ts'
export {
  countEntryBytes,
  countJournalBytes,
  isSeal,
  isUndone as isStepUndone,
  needsUndo,
  toSaga,
} from './rules/workflow-steps.ts'
export { beginsToNeedAttention } from './run/attention.ts'
export { mayStart } from './run/may-start.ts'
export type { RunRoom } from './run/plan-save.ts'
export {
  acceptedRun,
  type Grant,
  mayShow,
  type Run,
  type RunSettings,
  readStoreNow,
} from './run/run.ts'
export type { RunEffect, RunEvent } from './run/run-events.ts'
export { type Step, stepRun } from './run/step-run.ts'
export { REST_LEASES_MAX, type TakeOver, takeOver } from './run/take-over.ts'
export { canonicalJson } from './submission/canonical-json.ts'
export { findBadMetadata, toMetadata } from './submission/grpc-metadata.ts'
export type { CheckGrpc, CheckUrl, UrlRefusal } from './submission/parse-branch.ts'
export { type EditFields, type ParsedEdit, parseEdit } from './submission/parse-edit.ts'
export { isReservedHeader } from './submission/parse-headers.ts'
export { parsePlan } from './submission/parse-plan.ts'
export { type ParsedRegistration, parseRegistration } from './submission/parse-registration.ts'
export { type ParsedSignal, parseSignal } from './submission/parse-signal.ts'
export {
  type ParsedSubmission,
  parseSubmission,
  type Submission,
  type SubmissionDefaults,
} from './submission/parse-submission.ts'
export { findUnplainIds } from './submission/plain-ids.ts'
export { getSpanId, getTraceId, readTraceContext } from './submission/read-trace-context.ts'
export { toSubmitRequest } from './submission/to-submit-request.ts'
export { textHash } from './text-hash.ts'
export type {
  AbortDecision,
  CalledOp,
  Edit,
  MessageTransaction,
  OpProgress,
  RecordedTransaction,
  SagaBranchProgress,
  SagaOp,
  SagaTransaction,
  Signal,
  StepRecord,
  TccTransaction,
  Transaction,
  TwoPhaseTransaction,
  WorkflowStep,
  WorkflowTransaction,
  XaTransaction,
} from './transaction.ts'
export {
  countBodyCharacters,
  EARLIER,
  findAcceptedAt,
  getBranchTargets,
  hasStages,
  isFinal,
  isTwoPhase,
} from './transaction.ts'
export { buildPlanCall, buildStepRequest, isForHandler } from './values/build-plan-call.ts'
export { buildRequest, countBuiltBytes, findUnusableValue } from './values/build-request.ts'
export { countKeptBytes, isProducer } from './values/keep-values.ts'
