import { describe, expect, it } from 'vitest'
import { parseMetrics, sumMetric, timesBetween } from '../src/harness/metrics.ts'
import { MeasuredPart } from '../src/load/measured-part.ts'
import { alignedTable } from '../src/report/table.ts'
import { divideSpreads, toFigures } from '../src/row.ts'
import { toSpread } from '../src/spread.ts'
import { countOfGtids } from '../src/stores/commit-counter.ts'
import { earlierMs, splitCopies } from '../src/stores/copied-rows.ts'

describe('a count of answers', () => {
  it('A count of answers is measured from the last answer of its warm-up', () => {
    const measured = new MeasuredPart({ type: 'count', warmUpAnswers: 2, answers: 3 }, 1_000)
    for (const at of [1_100, 1_200, 1_400, 1_600, 1_700]) measured.answered(at, at - 1_000)
    expect(measured.answers).toBe(5)
    expect(measured.result()).toMatchObject({ answersPerSecond: 6, latencyMs: { p50: 600, max: 700 } })
  })

  it('A count of answers without a warm-up is measured from its start', () => {
    const measured = new MeasuredPart({ type: 'count', warmUpAnswers: 0, answers: 2 }, 1_000)
    for (const at of [1_200, 1_500]) measured.answered(at, 1)
    expect(measured.result().answersPerSecond).toBe(4)
  })
})

describe('a time', () => {
  it('A measurement by time takes what is answered after the warm-up and before the end', () => {
    const length = { type: 'time', warmUpSeconds: 1, seconds: 2 } as const
    const measured = new MeasuredPart(length, 0)
    for (const at of [999, 1_000, 2_999, 3_000]) measured.answered(at, at)
    expect(measured.answers).toBe(4)
    expect(measured.result()).toMatchObject({ answersPerSecond: 1, latencyMs: { p50: 1_000, max: 2_999 } })
  })
})

describe('metrics', () => {
  const text = [
    '# TYPE calls histogram',
    'calls_bucket{le="1",op="a"} 7',
    'calls_sum{op="a"} 1.5',
    'calls_count{op="a"} 3',
    'calls_sum{op="b"} 2',
    'calls_count{op="b"} 1',
    'up 1',
    '',
  ].join('\n')

  it('The values of a metric are summed over its lines', () => {
    const metrics = parseMetrics(text)
    expect(sumMetric(metrics, 'up')).toBe(1)
    expect(sumMetric(metrics, 'calls_sum')).toBe(3.5)
    expect(sumMetric(metrics, 'calls_sum', { op: 'b' })).toBe(2)
    expect(sumMetric(metrics, 'calls')).toBe(0)
  })

  it('The growth of a metric is counted between two moments', () => {
    const after = parseMetrics('calls_sum{op="a"} 2.5\ncalls_count{op="a"} 5')
    expect(timesBetween(parseMetrics(text), after, 'calls', { op: 'a' })).toEqual({ count: 2, seconds: 1 })
    expect(timesBetween(undefined, after, 'calls')).toEqual({ count: 5, seconds: 2.5 })
  })
})

describe('rounds', () => {
  it('Each figure of the rounds keeps its name', () => {
    const { a } = toFigures([{ a: 1 }, { a: 3 }])
    expect(a).toMatchObject({ median: 2, min: 1, max: 3 })
  })

  it('Each round is divided by the round of the other row that is beside it in time', () => {
    expect(divideSpreads(toSpread([2, 9]), toSpread([1, 3])).rounds).toEqual([2, 3])
  })
})

describe('copies of a row', () => {
  it('The copies of a row come in parts that hold each number once', () => {
    expect([...splitCopies(5, 2)]).toEqual([
      { from: 1, to: 2 },
      { from: 3, to: 4 },
      { from: 5, to: 5 },
    ])
  })

  it.each([1, 999_999, 10_000_000])(
    'Copies of a row are older than the original and younger than the retention, %d of them',
    (copies) => {
      const { firstMs, stepMs } = earlierMs(copies)
      expect(stepMs).toBeGreaterThanOrEqual(1)
      expect(firstMs - copies * stepMs).toBe(0)
      expect(firstMs - stepMs).toBeLessThan(7 * 24 * 3_600_000)
    },
  )
})

describe('a set of GTIDs', () => {
  it.each([
    ['', 0],
    ['3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5', 5],
    ['3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:7:9-10', 8],
    ['3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5,\n4e11fa47-71ca-11e1-9e33-c80aa9429562:2', 6],
  ])('The set of GTIDs %j has %d transactions', (set, count) => {
    expect(countOfGtids(set)).toBe(count)
  })
})

describe('a table', () => {
  it('A table aligns its first column to the left and the others to the right', () => {
    expect(
      alignedTable([
        ['row', 'n'],
        ['a', '10'],
      ]),
    ).toEqual(['row   n', 'a    10'])
  })
})
