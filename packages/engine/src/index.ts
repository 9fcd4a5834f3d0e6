export type { AlertOptions, AlertTarget } from './alerts/alert-options.ts'
export { toAlertCall } from './alerts/build-alert-message.ts'
export { StoreEventMemory } from './alerts/store-event-memory.ts'
export type { BulkApi, BulkOrder, BulkQuery } from './bulk/bulk-jobs.ts'
export { listDurabilityWarnings } from './durability-warnings.ts'
export type { Engine, EngineParts } from './engine.ts'
export { createEngine } from './engine.ts'
export type { EngineApi, EngineHealth, Given, ShownWhole, SubmitOptions, WaitOptions } from './engine-api.ts'
export { guardLogger } from './guard-logger.ts'
export { type Logger, logEvents } from './log-events.ts'
export { type LoggedError, toLoggedError } from './logged-error.ts'
export { nodeClock } from './node-clock.ts'
export { nodeIds } from './node-ids.ts'
export {
  ENGINE_EVENT_NAMES,
  type EngineEvent,
  type EngineObserver,
  type StoreOutcome,
  type StoreVerb,
} from './observer.ts'
export { ReadLimiter, type ReadLimiterBounds, toLane } from './read-limiter.ts'
export { listRetentionWarnings } from './retention-warnings.ts'
export type { ClaimedOutcomes, Invocation, RunOutcome } from './serverless/invocation.ts'
export type { ServerlessEngine, ServerlessParts } from './serverless/serverless-engine.ts'
export { createServerlessEngine } from './serverless/serverless-engine.ts'
export type { EngineSettings } from './settings.ts'
export { DEFAULT_SETTINGS } from './settings.ts'
export { type Bounds, SETTINGS_BOUNDS } from './settings-bounds.ts'
export { nameNode } from './statistics/name-node.ts'
export type { NodeFacts } from './statistics/node-memory.ts'
export type { AcceptSpan, CallSpan, EngineTracer, RunSpan, SaveSpan, SubmittedTransaction } from './tracer.ts'
export { TransactionError, toUnknownGidError } from './transaction-error.ts'
export type { SavedViewsApi } from './views/saved-views.ts'
export type { ShownView, Watcher, Watching } from './watch/watch.ts'
