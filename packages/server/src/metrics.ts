export { createPrometheusObserver } from './metrics/prometheus-observer.ts'
export { createBareRegistry, createRegistry, type Registry, readMetrics } from './metrics/registry.ts'
export { countStoreEvents } from './metrics/store-events.ts'
