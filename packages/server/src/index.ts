export type { AppDeps } from './build-app.ts'
export { buildApp } from './build-app.ts'
export type { ConsoleDirectory } from './console/console-routes.ts'
export { Breaks } from './dev/breaks.ts'
export { PROBLEM_TYPE, toProblem } from './http/problem.ts'
export { STATUS_OF_CODE } from './http/status-of-code.ts'
export { parseJson } from './json/parse-json.ts'
export type { LoggerOptions } from './logger.ts'
export { createLogger } from './logger.ts'
export {
  countStoreEvents,
  createBareRegistry,
  createPrometheusObserver,
  createRegistry,
  type MetricValuesOfProcess,
  type Registry,
  readMetrics,
  readMetricValues,
  sumEnded,
  writeAllMetrics,
} from './metrics.ts'
export { addNativeApi, type ConsoleDeps, type NativeApiDeps } from './native-api.ts'
export { OPERATIONS } from './operations.ts'
export type { Panel } from './panels/panel.ts'
export type { ServerLimits } from './server-limits.ts'
export { DEFAULT_SERVER_LIMITS } from './server-limits.ts'
export { warnOfBounds } from './warn-of-bounds.ts'
