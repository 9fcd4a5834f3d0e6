import { resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics'
import { Counter, Gauge, Histogram, Registry, Summary } from 'prom-client'
import { expect, it } from 'vitest'
import { createPrometheusProducer } from '../src/prometheus-producer.ts'

const STARTED_AT = 1_800_000_000_250

async function collect(registry: Registry) {
  const words = { AggregationTemporality, DataPointType }
  const producer = createPrometheusProducer(registry, words, resourceFromAttributes({}), STARTED_AT)
  const { resourceMetrics } = await producer.collect()
  return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
}

it('A counter is a sum that only grows, from the start of the process on', async () => {
  const registry = new Registry()
  const counter = new Counter({
    name: 'sent_bytes_total',
    help: 'bytes',
    labelNames: ['to'],
    registers: [registry],
  })
  counter.inc({ to: 'bank' }, 3)
  expect(await collect(registry)).toEqual([
    {
      descriptor: expect.objectContaining({ name: 'sent_bytes_total', description: 'bytes', unit: 'By' }),
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
      dataPointType: DataPointType.SUM,
      isMonotonic: true,
      dataPoints: [
        {
          startTime: [1_800_000_000, 250_000_000],
          endTime: [expect.any(Number), expect.any(Number)],
          attributes: { to: 'bank' },
          value: 3,
        },
      ],
    },
  ])
})

it('A gauge keeps its name and value, and seconds are named as OpenTelemetry names them', async () => {
  const registry = new Registry()
  new Gauge({ name: 'age_seconds', help: 'age', registers: [registry] }).set(1.5)
  const [gauge] = await collect(registry)
  expect(gauge).toMatchObject({
    dataPointType: DataPointType.GAUGE,
    dataPoints: [{ attributes: {}, value: 1.5 }],
  })
  expect(gauge?.descriptor.unit).toBe('s')
})

it('Each bucket of a histogram counts what no smaller one has, by its labels', async () => {
  const registry = new Registry()
  const histogram = new Histogram({
    ...{ name: 'took_seconds', help: 'took', labelNames: ['op'], buckets: [1, 2, 5] },
    registers: [registry],
  })
  for (const value of [0.5, 1, 1.5, 4, 9, 9]) histogram.observe({ op: 'action' }, value)
  histogram.observe({ op: 'try' }, 2)
  const [metric] = await collect(registry)
  expect(metric?.dataPointType).toBe(DataPointType.HISTOGRAM)
  expect(metric?.dataPoints).toMatchObject([
    {
      attributes: { op: 'action' },
      value: { buckets: { boundaries: [1, 2, 5], counts: [2, 1, 1, 2] }, sum: 25, count: 6 },
    },
    { attributes: { op: 'try' }, value: { buckets: { counts: [0, 1, 0, 0] }, sum: 2, count: 1 } },
  ])
})

it('A type that OpenTelemetry has not is left out', async () => {
  const registry = new Registry()
  new Summary({ name: 'some', help: 'some', registers: [registry] }).observe(1)
  expect(await collect(registry)).toEqual([])
})
