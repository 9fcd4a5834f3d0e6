export type { AsJson } from './as-json.ts'
export type { Barrier, BarrierOptions, BarrierOutcome } from './barrier/barrier.ts'
export type { LocalOutcome, MessageBarrier, QueryPreparedOptions } from './barrier/message-barrier.ts'
export { STORED_ANSWER_BYTES_MAX } from './barrier/stored-answer.ts'
export type { FirstAnswer } from './barrier/with-barrier.ts'
export { withBarrier } from './barrier/with-barrier.ts'
export type { BarrierCall, Branch } from './branch/branch.ts'
export type { BranchErrorCode } from './branch/branch-errors.ts'
export {
  BRANCH_CODES,
  BranchError,
  BranchFailure,
  BranchOngoing,
  isBranchError,
  isBranchFailure,
  isBranchOngoing,
} from './branch/branch-errors.ts'
export type { HttpAnswer } from './branch/http-answer.ts'
export type { BranchRequest } from './branch/parse-branch.ts'
export { parseBranch } from './branch/parse-branch.ts'
export { branchOf, type TypedBranch } from './branch-of.ts'
export type { Client } from './client.ts'
export { createClient } from './client.ts'
export type { ClientOptions } from './client-options.ts'
export type { Endpoint } from './endpoint.ts'
export { endpoint } from './endpoint.ts'
export type { CounterstepErrorCode } from './errors.ts'
export {
  CounterstepError,
  isCounterstepError,
  isNotFinal,
  isRefused,
  isUnavailable,
  NotFinalError,
  RefusedError,
  UnavailableError,
} from './errors.ts'
export { newGid } from './gid.ts'
export type { AnsweredBranch, BranchHandler, BranchHandlerOptions } from './http/answer-branch.ts'
export { answerBranch } from './http/answer-branch.ts'
export { answerQueryBack } from './http/answer-query-back.ts'
export type { BranchOp } from './http/served-ops.ts'
export type {
  DoAndSubmitOptions,
  Message,
  MessageSettings,
  SubmittedMessage,
  TwoPhaseMessage,
  TwoPhaseMessageSettings,
} from './message/message-types.ts'
export type {
  AbortOptions,
  CallOptions,
  ListFilter,
  SignalOptions,
  StopOptions,
  SubmitOptions,
  WaitOptions,
  WorkflowWaitOptions,
} from './options.ts'
export type { BranchOptions, Part } from './part.ts'
export { branch, parallel, serial } from './part.ts'
export type {
  AbortCause,
  AbortView,
  BranchView,
  ErrorCode,
  ErrorMeaning,
  Fault,
  FinalStatus,
  JsonValue,
  Kind,
  MessageBranchRequest,
  MessageCheckRequest,
  MessageSubmitRequest,
  Op,
  OpView,
  Result,
  RetryPolicy,
  SagaBranchRequest,
  SagaSubmitRequest,
  SignalView,
  Status,
  SubmitRequest,
  SubmitView,
  TccBranchRequest,
  TccSubmitRequest,
  TransactionPage,
  TransactionSummary,
  TransactionView,
} from './protocol-types.ts'
export type { Ref } from './ref.ts'
export { orElse } from './ref.ts'
export type { Saga, SureSaga } from './saga.ts'
export { saga } from './saga.ts'
export type { SagaSettings } from './saga-builder.ts'
export type { Signal } from './signal.ts'
export { signal } from './signal.ts'
export type { RunTccOptions, SubmittedTcc } from './tcc/run-tcc.ts'
export type { RegisteredBranch, Tcc, TccBranch, TccScope, TccSettings } from './tcc/tcc-types.ts'
export { answerWorkflow } from './workflow/answer-workflow.ts'
export type { EndedWorkflow, StartSettings, StartView } from './workflow/start.ts'
export type { SureStep, UndoableStep } from './workflow/step.ts'
export { step } from './workflow/step.ts'
export type { Workflow } from './workflow/workflow.ts'
export { workflow } from './workflow/workflow.ts'
export type { Pivoted, SureWorkflowContext, WorkflowContext } from './workflow/workflow-context.ts'
