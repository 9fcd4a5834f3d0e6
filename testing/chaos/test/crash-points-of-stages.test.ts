import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CrashCase, CrashChain } from '../src/crash-points/crash-chain.ts'
import { STAGE_POINTS, WORKFLOW_POINTS } from '../src/crash-points/points.ts'
import { CrashFixture } from './crash-fixture.ts'

// The other points are those of the long test.
const CHAINS = 2
const RUN_MS_MAX = 300_000

let fixture: CrashFixture

beforeAll(async () => {
  fixture = await CrashFixture.start()
})

afterAll(() => fixture.close())

it(
  'A node that is killed beside a write of values, a signal, a mark or a workflow loses nothing and doubles nothing',
  async () => {
    const points = [...STAGE_POINTS, ...WORKFLOW_POINTS]
    const cases = points.map((point): CrashCase => ({ hit: { point, nth: 1 }, during: 'scenario' }))
    const chains = Array.from(
      { length: CHAINS },
      (_, index): CrashChain =>
        index === 0 ? fixture.makeChain('chain') : fixture.makeOwnChain('own-chain'),
    )
    await Promise.all(
      chains.map((chain, index) => chain.run(cases.filter((_, position) => position % CHAINS === index))),
    )
    const killed = chains.flatMap((chain) => chain.killed.map(({ hit }) => hit.point))
    expect(killed.toSorted()).toEqual(points.toSorted())
    expect(chains.flatMap((chain) => chain.faults)).toEqual([])
    expect(fixture.ledger.wrongBalances()).toEqual([])
  },
  RUN_MS_MAX,
)
