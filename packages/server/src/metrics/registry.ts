import {
  AggregatorRegistry,
  collectDefaultMetrics,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'

export type { Registry } from 'prom-client'

/**
 * Node may abort the process when these are collected. They are counted by the object of each handle and request, and one that has
 * just been freed has none.
 */
const ABORTING_METRICS = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
]

/** Makes a registry with the figures of this process. It is never prom-client's global one. */
export function createRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of ABORTING_METRICS) registry.removeSingleMetric(name)
  return registry
}

/** Makes a registry without the figures of the process, which are left to its owner. */
export function createBareRegistry(): Registry {
  return new Registry()
}

const underWay = new WeakMap<Registry, Promise<string>>()

/**
 * Reads all metrics as one page of text, which takes some milliseconds. Requests that come meanwhile share the page, so
 * that many callers cost no more than one.
 */
export function readMetrics(registry: Registry): Promise<string> {
  const shared = underWay.get(registry)
  if (shared !== undefined) return shared
  const page = registry.metrics().finally(() => underWay.delete(registry))
  underWay.set(registry, page)
  return page
}

/** All metrics of one process, for another one that adds them up. */
export type MetricValuesOfProcess = readonly MetricObjectWithValues<MetricValue<string>>[]

export function readMetricValues(registry: Registry): Promise<MetricValuesOfProcess> {
  return registry.getMetricsAsJSON()
}

/** Writes the metrics of several processes as one page of text. Each says how it is added up by its `aggregator`. */
export function writeAllMetrics(all: readonly MetricValuesOfProcess[]): Promise<string> {
  return AggregatorRegistry.aggregate(all.map((metrics) => [...metrics])).metrics()
}

/** Adds up the counters and histograms of processes that have ended. Their gauges are gone. */
export async function sumEnded(all: readonly MetricValuesOfProcess[]): Promise<MetricValuesOfProcess> {
  const counts = all.map((metrics) => metrics.filter(({ type }) => String(type) !== 'gauge'))
  return AggregatorRegistry.aggregate(counts).getMetricsAsJSON()
}
