export { type Caller, readActor, toActor } from './actor.ts'
export {
  answerClientErrors,
  type ClientErrorHandler,
  type ClientFault,
  type FaultAnswer,
} from './answer-client-errors.ts'
export { readCaller } from './connection.ts'
export { CHUNK_OVERHEAD_BYTES, ConnectionBounds, type ReachedBound } from './connection-bounds.ts'
export {
  type ConnectionBoundLimits,
  type ConnectionLimits,
  DEFAULT_CONNECTION_LIMITS,
  toConnectionOptions,
  UNACCEPTED_MAX,
} from './connection-limits.ts'
export { ACTIVE_KEYS_PER_NAME_MAX, type CreatedKey, createKey, type NewKey } from './create-key.ts'
export { readBearerKey, readBearerOrBasicKey } from './credentials.ts'
export { endConnectionsWhileStopping, endIdleConnectionsWhileClosing } from './end-connections.ts'
export { FAILURES_PER_ADDRESS_PER_S_MAX } from './failure-rate.ts'
export { findOrMake } from './find-or-make.ts'
export { createGate, type Gate, type GateSettings, type Guard } from './gate.ts'
export { guardRoutes } from './guard-routes.ts'
export { HolderQueue } from './holder-queue.ts'
export { buildLoopbackHostRule, buildNamedHostRule, type HostRule, readHostname } from './host-rule.ts'
export { readKeyFileText } from './key-file-text.ts'
export { KeyQuota, type QuotaBounds, type Stores } from './key-quota.ts'
export { KeyRate } from './key-rate.ts'
export { KEY_FILE_POLL_MS, type KeyFinder, KeyRing } from './key-ring.ts'
export { isKeyId } from './key-text.ts'
export { type Networks, readNetworks } from './networks.ts'
export { OddRequestError } from './odd-request.ts'
export { openKeyFile } from './open-key-file.ts'
export { readQuery } from './query.ts'
export { buildQuotaCheck, tellRetryAfter } from './quota-check.ts'
export { RecentNames } from './recent-names.ts'
export type { RequestHead } from './request-head.ts'
export { revokeKey } from './revoke-key.ts'
export {
  isGranted,
  isScope,
  listScopes,
  type RouteAccess,
  SCOPES,
  type Scope,
  type ScopedAccess,
} from './scope.ts'
export { CONSOLE_HEADER, UNATTENDED_HEADER } from './sessions/request-session.ts'
export { type CookiePlace, writeSessionCookie } from './sessions/session-cookie.ts'
export type { SessionDocuments } from './sessions/session-documents.ts'
export type { SessionHalves } from './sessions/session-halves.ts'
export { isPerson, PERSON_RULE, SESSION_MS } from './sessions/session-record.ts'
export { type FoundSession, type OpenSession, Sessions } from './sessions/sessions.ts'
export { isActive, isKeyName, KEY_NAME_RULE, type StoredKey } from './stored-key.ts'
export { toKeyTable } from './to-key-table.ts'
export { toNetwork } from './to-network.ts'
export { watchCaller } from './watch-caller.ts'
export { WITHOUT_SCHEMAS } from './without-schemas.ts'
