export { createPrometheusObserver } from './metrics/prometheus-observer.ts'
export {
  createBareRegistry,
  createRegistry,
  type MetricValuesOfProcess,
  type Registry,
  readMetrics,
  readMetricValues,
  sumEnded,
  writeAllMetrics,
} from './metrics/registry.ts'
export { countStoreEvents } from './metrics/store-events.ts'
