import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chosenCases, isOfOpening } from '../src/crash-points/chosen-hits.ts'
import type { CrashChain } from '../src/crash-points/crash-chain.ts'
import { crashWhileOpening } from '../src/crash-points/crash-while-opening.ts'
import { POINTS, type Point } from '../src/crash-points/points.ts'
import { CrashFixture } from './crash-fixture.ts'

const SOURCE = join(import.meta.dirname, '../src/crash-points/node.ts')
const CHAINS = 4
/** These bounds only tell stuck from slow: beside other tests the kills take 5 to 10 minutes. */
const RUN_MS_MAX = 1_800_000
const KILLS_MIN = 120

describe('a node killed at each crash point', () => {
  let fixture: CrashFixture
  let chains: readonly CrashChain[] = []
  let counts: Partial<Record<Point, number>> = {}

  beforeAll(async () => {
    fixture = await CrashFixture.start()
  })

  afterAll(() => fixture.close())

  it('The audit finds what is lost by a node that answers and does not write', {
    timeout: RUN_MS_MAX,
  }, async () => {
    const chain = fixture.makeChain('mutant', { mutant: 'forgetful' })
    await chain.run([{ hit: { point: 'document-before', nth: 1 }, during: 'scenario' }])
    expect(chain.killed).toHaveLength(1)
    expect(chain.faults).toContainEqual(expect.stringMatching(/^I1: \S+ was acknowledged and is lost$/))
  })

  describe('at every point', () => {
    beforeAll(async () => {
      const counted = await fixture.makeChain('counting', { program: SOURCE }).count()
      counts = counted
      const cases = chosenCases(counted)
      // Every other chain has its branches within the node, so that they die with it.
      chains = Array.from({ length: CHAINS }, (_, index) =>
        index % 2 === 0 ? fixture.makeChain(`chain-${index + 1}`) : fixture.makeOwnChain(`own-${index + 1}`),
      )
      await Promise.all(
        chains.map((chain, index) => chain.run(cases.filter((_, position) => position % CHAINS === index))),
      )
    }, RUN_MS_MAX)

    it('A node passes each declared point when nothing is killed', () => {
      expect(POINTS.filter((point) => counts[point] === 0)).toEqual([])
    })

    it(`The nodes were killed at each point, at least ${KILLS_MIN} times in all`, () => {
      const killed = chains.flatMap((chain) => chain.killed)
      const missed = chains.flatMap((chain) => chain.missed)
      const nulls = fixture.ledger.nullCompensations()
      const duplicates = fixture.ledger.duplicates()
      process.stdout.write(
        `crash points: ${killed.length} kills, ${missed.length} not reached, ` +
          `${duplicates} calls repeated, ${nulls} null compensations\n`,
      )
      const points = new Set(killed.map(({ hit }) => hit.point))
      expect(POINTS.filter((point) => !isOfOpening(point) && !points.has(point))).toEqual([])
      expect(killed.length).toBeGreaterThanOrEqual(KILLS_MIN)
      expect(duplicates).toBeGreaterThanOrEqual(100)
      expect(nulls).toBeGreaterThanOrEqual(20)
    })

    it('The nodes lost nothing, doubled nothing, forgot nothing that may have run, and kept the money', () => {
      expect(chains.flatMap((chain) => chain.faults)).toEqual([])
      expect(fixture.ledger.wrongBalances()).toEqual([])
    })

    it('A file whose making was cut off at any commit can be opened', { timeout: RUN_MS_MAX }, async () => {
      for (const point of POINTS.filter(isOfOpening)) {
        for (let nth = 1; nth <= (counts[point] ?? 0); nth++) {
          const path = join(fixture.folder, `${point}-${nth}`, 'store.db')
          expect(await crashWhileOpening(path, { point, nth }, fixture.program)).toBe('killed')
        }
      }
    })
  })
})
