/** Hands the metrics of a prom-client registry to OpenTelemetry, under their names and with the counts that `/metrics` shows. */
import { ValueType } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import type {
  AggregationTemporality,
  DataPoint,
  Histogram,
  MetricData,
  MetricProducer,
} from '@opentelemetry/sdk-metrics'

/** The part of prom-client's registry that is used. */
export interface ReadableRegistry {
  getMetricsAsJSON(): Promise<readonly RegisteredMetric[]>
}

export interface RegisteredMetric {
  readonly name: string
  readonly help: string
  readonly type: unknown
  readonly values?: readonly RegisteredValue[]
}

export interface RegisteredValue {
  readonly value: number
  readonly labels: Readonly<Partial<Record<string, string | number>>>
  /** In a histogram it says whether this is a bucket, the sum or the count. */
  readonly metricName?: string
}

/** The words of `@opentelemetry/sdk-metrics`, which is loaded by the host alone. */
export interface MetricWords {
  readonly AggregationTemporality: { readonly CUMULATIVE: AggregationTemporality.CUMULATIVE }
  readonly DataPointType: typeof import('@opentelemetry/sdk-metrics').DataPointType
}

const SCOPE = { name: 'counterstep' }
const UNITS: readonly (readonly [ending: RegExp, unit: string])[] = [
  [/_seconds(_total)?$/, 's'],
  [/_bytes(_total)?$/, 'By'],
]

/** @param startedAt when the counters began, in epoch milliseconds. */
export function createPrometheusProducer(
  registry: ReadableRegistry,
  words: MetricWords,
  resource: Resource,
  startedAt: number,
): MetricProducer {
  return {
    async collect() {
      const times = { startTime: toHrTime(startedAt), endTime: toHrTime(Date.now()) }
      const metrics = (await registry.getMetricsAsJSON()).flatMap((metric) => toData(metric, words, times))
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: SCOPE, metrics }] }, errors: [] }
    },
  }
}

type Times = Pick<DataPoint<number>, 'startTime' | 'endTime'>

/** Returns one metric, or none where prom-client has a type that OpenTelemetry has not. */
function toData(metric: RegisteredMetric, words: MetricWords, times: Times): MetricData[] {
  const { name, help, type, values = [] } = metric
  const { DataPointType } = words
  const descriptor = { name, description: help, unit: findUnit(name), valueType: ValueType.DOUBLE }
  const common = { descriptor, aggregationTemporality: words.AggregationTemporality.CUMULATIVE }
  if (type === 'counter')
    return [
      { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: toPoints(values, times) },
    ]
  if (type === 'gauge')
    return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints: toPoints(values, times) }]
  if (type === 'histogram')
    return [
      { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: toHistograms(name, values, times) },
    ]
  return []
}

function toPoints(values: readonly RegisteredValue[], times: Times): DataPoint<number>[] {
  return values.map(({ labels, value }) => ({ ...times, attributes: { ...labels }, value }))
}

/** A bucket of Prometheus counts all that is smaller, and one of OpenTelemetry what no smaller bucket has. */
function toHistograms(
  name: string,
  values: readonly RegisteredValue[],
  times: Times,
): DataPoint<Histogram>[] {
  const groups = new Map<string, RegisteredValue[]>()
  for (const value of values) {
    const { le: _, ...labels } = value.labels
    const key = JSON.stringify(labels)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [value])
    else group.push(value)
  }
  return [...groups.values()].map((group) => {
    const { le: _, ...attributes } = group[0]?.labels ?? {}
    const find = (ending: string) => group.find(({ metricName }) => metricName === name + ending)?.value ?? 0
    const buckets = group.filter(({ labels }) => labels.le !== undefined && labels.le !== '+Inf')
    const count = find('_count')
    const below = [...buckets.map(({ value }) => value), count]
    const value = {
      buckets: {
        boundaries: buckets.map(({ labels }) => Number(labels.le)),
        counts: below.map((total, at) => total - (below[at - 1] ?? 0)),
      },
      sum: find('_sum'),
      count,
    }
    return { ...times, attributes, value }
  })
}

function findUnit(name: string): string {
  return UNITS.find(([ending]) => ending.test(name))?.[1] ?? ''
}

function toHrTime(epochMs: number): [seconds: number, nanoseconds: number] {
  return [Math.floor(epochMs / 1_000), Math.round((epochMs % 1_000) * 1e6)]
}
