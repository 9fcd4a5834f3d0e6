import {
  createBareRegistry,
  type MetricValuesOfProcess,
  readMetricValues,
  writeAllMetrics,
} from '@counterstep/server'
import { Counter, Gauge, Histogram } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { Gathering } from '../src/processes/gathering.ts'
import { KeptMetrics } from '../src/processes/kept-metrics.ts'

function readMetrics(count: number, inFlight: number): Promise<MetricValuesOfProcess> {
  const registry = createBareRegistry()
  const registers = [registry]
  new Counter({ name: 'done_total', help: 'done', registers }).inc(count)
  new Gauge({ name: 'in_flight', help: 'in flight', registers }).set(inFlight)
  new Gauge({ name: 'ready', help: 'ready', aggregator: 'min', registers }).set(1)
  const histogram = new Histogram({ name: 'took_seconds', help: 'took', buckets: [1], registers })
  for (let observed = 0; observed < count; observed++) histogram.observe(0.5)
  return readMetricValues(registry)
}

async function readPage(kept: KeptMetrics<string>): Promise<readonly string[]> {
  const page = await writeAllMetrics(await kept.readAll())
  return page.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

describe('the metrics of several processes', () => {
  it('The counters of one that has ended go on to count, and its gauges do not', async () => {
    const kept = new KeptMetrics<string>()
    kept.note('a', await readMetrics(5, 3))
    kept.note('b', await readMetrics(2, 1))
    expect(await readPage(kept)).toEqual(expect.arrayContaining(['done_total 7', 'in_flight 4', 'ready 1']))
    kept.end('a')
    expect(await readPage(kept)).toEqual(
      expect.arrayContaining(['done_total 7', 'in_flight 1', 'ready 1', 'took_seconds_count 7']),
    )
    kept.note('c', await readMetrics(1, 9))
    kept.end('b')
    kept.end('c')
    const page = await readPage(kept)
    expect(page).toEqual(expect.arrayContaining(['done_total 8', 'took_seconds_bucket{le="1"} 8']))
    expect(page.join()).not.toContain('in_flight')
  })
})

describe('the answers of several processes', () => {
  it('They are complete when all have answered, and one that is late is not waited for', async () => {
    const gathering = new Gathering(50)
    const ids: number[] = []
    const both = gathering.gather<string>(2, (id) => ids.push(id))
    for (const answer of ['a', 'b']) gathering.take(ids[0] ?? 0, answer)
    expect(await both).toEqual(['a', 'b'])
    const late = gathering.gather<string>(2, (id) => gathering.take(id, 'only'))
    expect(await late).toEqual(['only'])
    gathering.take(ids[0] ?? 0, 'too late')
    expect(await gathering.gather<string>(0, () => undefined)).toEqual([])
  })
})
