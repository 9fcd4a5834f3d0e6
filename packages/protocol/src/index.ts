export type { CallIdentity, IdentityParameter } from './call-identity.ts'
export {
  findPayloadFault,
  findUrlFault,
  IDENTITY_HEADERS,
  IDENTITY_PARAMETERS,
  readCallIdentity,
  URL_PARAMETERS_MAX,
} from './call-identity.ts'
export type { ErrorCode, ErrorMeaning, Fault } from './errors.ts'
export { CounterstepError, ERROR_MEANINGS, InvalidRequestError, isCounterstepError } from './errors.ts'
export type { BranchId, Gid } from './gid.ts'
export { GID_RULE, isBranchId, isGid, timeOrderedGid } from './gid.ts'
export { LibraryChangedError } from './library-changed.ts'
export {
  ANSWER_BYTES_MAX,
  BODY_BYTES_MAX,
  BRANCH_ID_LENGTH_MAX,
  BRANCHES_MAX,
  CHECKPOINT_MS_MAX,
  DEADLINE_MS_MAX,
  DELAY_MS_MAX,
  GID_LENGTH_MAX,
  GID_REUSE_MARGIN_MS,
  HEADER_BYTES_MAX,
  HEADERS_MAX,
  INPUT_BYTES_MAX,
  JSON_DEPTH_MAX,
  KEPT_VALUE_BYTES_MAX,
  KEPT_VALUES_BYTES_MAX,
  LIST_LIMIT_MAX,
  PAYLOAD_BYTES_MAX,
  POINTER_LENGTH_MAX,
  PREPARED_MS,
  REASON_LENGTH_MAX,
  REFERENCES_MAX,
  RETRY_CAP_MS_MAX,
  RETRY_LIMIT_MAX,
  TIMEOUT_MS_MAX,
  URL_LENGTH_MAX,
  WAIT_MS_MAX,
} from './limits.ts'
export { VERSION } from './version.ts'
export type {
  AbortCause,
  AbortRequest,
  AbortView,
  AnswerReference,
  BranchView,
  CompensationRequest,
  InputReference,
  JsonValue,
  MessageBranchRequest,
  MessageCheckRequest,
  MessageSubmitRequest,
  OpState,
  OpView,
  PayloadValue,
  Problem,
  Reference,
  RetryPolicy,
  SagaBranchRequest,
  SagaSubmitRequest,
  SubmitRequest,
  SubmitView,
  TccBranchRequest,
  TccSubmitRequest,
  TemplateValue,
  TransactionPage,
  TransactionSummary,
  TransactionView,
  UrlTemplate,
} from './wire.ts'
export type { FinalStatus, Kind, Op, Result, Status, UnfinishedStatus } from './words.ts'
export {
  FINAL_STATUSES,
  isFinalStatus,
  KINDS,
  OPS,
  RESULTS,
  STATUSES,
  UNFINISHED_STATUSES,
} from './words.ts'
