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
  Op,
  OpView,
  Result,
  RetryPolicy,
  SagaBranchRequest,
  Status,
  SubmitRequest,
  SubmitView,
  TransactionPage,
  TransactionSummary,
  TransactionView,
} from '@counterstep/protocol'
export type { CallOptions, Client, ClientOptions, ListFilter, SubmitOptions, WaitOptions } from './client.ts'
export { createClient } from './client.ts'
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
export type { BranchOptions, Part } from './part.ts'
export { branch, parallel, serial } from './part.ts'
export type { Saga, SagaSettings } from './saga.ts'
export { saga } from './saga.ts'
