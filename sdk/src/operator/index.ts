// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.

export type { ClientOptions } from '../client-options.ts'
export {
  isCounterstepError,
  isRefused,
  isUnavailable,
} from '../errors.ts'
export type { CallOptions, ListFilter } from '../options.ts'
export type { Bulk, BulkOptions } from './bulk.ts'
export type {
  AbortCommandOptions,
  CommandOptions,
  EditOptions,
  OpName,
  PauseOptions,
  ReasonedOptions,
  SkipOptions,
} from './command-options.ts'
export type { Operator } from './operator.ts'
export { createOperator } from './operator.ts'
export type {
  Actor,
  AttemptRun,
  BulkPreview,
  BulkView,
  NamesView,
  OverviewView,
  PanelsView,
  PanelView,
  PlannedCall,
  PlanView,
  PreviewRequest,
  ProblemsView,
  ProblemView,
  ServicesView,
  ServiceView,
  TrailEntry,
  TransactionRequestView,
} from './operator-types.ts'
export type { WatchOptions } from './watch.ts'
