import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { latencyOfHistogram } from '../src/transfer/latency-histogram.ts'
import { databaseFigures } from '../src/transfer/measure-column.ts'
import { parseSysbench, Sysbench } from '../src/transfer/sysbench.ts'

const PRINTED = `
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       0.500 |********************                     5
       1.250 |****************************************  4
      20.736 |*                                        1

SQL statistics:
    queries performed:
        total:                           60
    transactions:                        10     (9.50 per sec.)
    queries:                             60     (57.00 per sec.)
    ignored errors:                      0      (0.00 per sec.)
`

describe('what sysbench printed', () => {
  it('The rates and the histogram that sysbench prints are read', () => {
    expect(parseSysbench(PRINTED)).toEqual({
      transactions: 10,
      perSecond: 9.5,
      latencyMs: { p50: 0.5, p99: 20.736 },
    })
  })

  it('The output of sysbench is shown where it has no figures', () => {
    expect(() => parseSysbench('FATAL: no connection')).toThrow('FATAL: no connection')
  })
})

it('A sysbench that fails is an error that says how', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-sysbench-'))
  try {
    const preparing = Sysbench.prepare(process.execPath, 'mysql://root@127.0.0.1:1/bank', folder)
    await expect(preparing).rejects.toThrow('sysbench ended with 1')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

describe('the percentiles of a histogram', () => {
  it('The percentiles of a histogram are of the nearest rank', () => {
    const steps = '  1.000 |*  1\n  2.000 |*  1\n  3.000 |*  1\n'
    expect(latencyOfHistogram(steps)).toEqual({ p50: 2, p99: 3 })
  })

  it('The percentiles of an empty histogram are not a number', () => {
    expect(latencyOfHistogram('')).toEqual({ p50: Number.NaN, p99: Number.NaN })
  })
})

describe('the figures of the database', () => {
  const before = { commits: 100, questions: 1_000, groups: 50, fsyncs: undefined }
  const after = { commits: 130, questions: 1_090, groups: 60, fsyncs: undefined }

  it('The figures of the database are counted over a whole round and given for the measured rate', () => {
    expect(databaseFigures(before, after, 10, 200)).toEqual({
      'DB-TPS': 600,
      OPS: 1_800,
      'commits each': 3,
      'statements each': 9,
      'log writes each': 1,
    })
  })

  it('The figures of the database leave out what it does not count', () => {
    const figures = databaseFigures(
      { ...before, groups: undefined },
      { ...after, groups: undefined },
      10,
      200,
    )
    expect(figures).not.toHaveProperty('log writes each')
  })
})
