import { afterEach, describe, expect, it } from 'vitest'
import { runBench } from '../src/run-bench.ts'
import { dtm } from '../src/scenarios/dtm.ts'
import { type DtmStandIn, startDtmStandIn } from './dtm-stand-in.ts'
import { SMOKE, SMOKE_MS_MAX, silent } from './smoke.ts'

describe('a server that speaks the dialect of DTM', () => {
  const TWO_ROUNDS = { ...SMOKE, rounds: 2 }
  let standIn: DtmStandIn

  afterEach(() => standIn.close())

  it('Each request to a DTM server has a gid of its own, and the server is asked for its sagas at the end', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    standIn = await startDtmStandIn()
    const { counters, rows, ratios, notes } = await runBench(
      dtm,
      { ...TWO_ROUNDS, target: standIn.url },
      silent,
    )
    expect(rows.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['relay', 'counterstep', 'dialect', 'dialect, gRPC', 'dtm']),
    )
    expect(counters['dtm answers']).toBeGreaterThan(0)
    expect(counters['dtm branchCalls']).toBe(2 * (counters['dtm answers'] ?? 0))
    // It is asked for the first saga of each connection in each round.
    expect(counters['dtm asked']).toBe(8)
    expect(ratios).toHaveProperty(['counterstep/dtm'])
    expect(ratios).toHaveProperty(['dialect/dtm'])
    expect(counters['dialect, gRPC answers']).toBeGreaterThan(0)
    expect(counters['dialect, gRPC branchCalls']).toBe(2 * (counters['dialect, gRPC answers'] ?? 0))
    expect(notes).toContain(`dtm: ${standIn.url}`)
  })

  it('A run fails when the DTM server answers success without all of the calls', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    standIn = await startDtmStandIn({ skipsCalls: true })
    const run = runBench(dtm, { ...SMOKE, target: standIn.url }, silent)
    await expect(run).rejects.toThrow('counts that must be equal are not')
  })
})
