import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BankLedger } from '../src/crash-points/bank-ledger.ts'
import { type BankProcess, startBank } from '../src/crash-points/bank-process.ts'
import { chosenCases, isOfOpening } from '../src/crash-points/chosen-hits.ts'
import { type ChainParts, CrashChain } from '../src/crash-points/crash-chain.ts'
import { crashWhileOpening } from '../src/crash-points/crash-while-opening.ts'
import { type FlakyServer, startFlakyServer } from '../src/crash-points/flaky-server.ts'
import type { Hit } from '../src/crash-points/node-messages.ts'
import { POINTS, type Point } from '../src/crash-points/points.ts'
import { ACCOUNTS } from '../src/crash-points/scenario.ts'
import { type BundledNode, bundleNode } from './bundle-node.ts'

const SOURCE = join(import.meta.dirname, '../src/crash-points/node.ts')
const CHAINS = 4
const RUN_MS_MAX = 600_000
const KILLS_MIN = 120

describe('a node killed at each crash point', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-crash-points-'))
  const bankFile = join(folder, 'bank.db')
  let bank: BankProcess | undefined
  let flaky: FlakyServer | undefined
  let node: BundledNode | undefined
  let ledger: BankLedger | undefined
  let makeChain: (name: string, more?: Partial<Pick<ChainParts, 'mutant' | 'program'>>) => CrashChain
  let opening: (path: string, hit: Hit) => Promise<'killed' | 'missed'>
  let chains: readonly CrashChain[] = []
  let counts: Partial<Record<Point, number>> = {}

  beforeAll(async () => {
    node = await bundleNode()
    const { program } = node
    opening = (path, hit) => crashWhileOpening(path, hit, program)
    bank = await startBank(bankFile, ACCOUNTS)
    flaky = await startFlakyServer(bank.url)
    const parts = {
      participants: { bank: bank.url, flaky: flaky.url, yes: `${flaky.url}/yes` },
      ledger: new BankLedger(bankFile),
    }
    ledger = parts.ledger
    makeChain = (name, more) =>
      new CrashChain({
        ...parts,
        name,
        program,
        path: join(folder, name, 'store.db'),
        ...more,
      })
  })

  afterAll(async () => {
    ledger?.close()
    await flaky?.close()
    await bank?.stop()
    node?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  it('The audit finds what is lost by a node that answers and does not write', {
    timeout: RUN_MS_MAX,
  }, async () => {
    const chain = makeChain('mutant', { mutant: 'forgetful' })
    await chain.run([{ hit: { point: 'document-before', nth: 1 }, during: 'scenario' }])
    expect(chain.killed).toHaveLength(1)
    expect(chain.faults).toContainEqual(expect.stringMatching(/^I1: \S+ was acknowledged and is lost$/))
  })

  describe('at every point', () => {
    beforeAll(async () => {
      const counted = await makeChain('counting', { program: SOURCE }).count()
      counts = counted
      const cases = chosenCases(counted)
      chains = Array.from({ length: CHAINS }, (_, index) => makeChain(`chain-${index + 1}`))
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
      const nulls = ledger?.nullCompensations() ?? 0
      const duplicates = ledger?.duplicates() ?? 0
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
      expect(ledger?.wrongBalances()).toEqual([])
    })

    it('A file whose making was cut off at any commit can be opened', { timeout: RUN_MS_MAX }, async () => {
      for (const point of POINTS.filter(isOfOpening)) {
        for (let nth = 1; nth <= (counts[point] ?? 0); nth++) {
          const path = join(folder, `${point}-${nth}`, 'store.db')
          expect(await opening(path, { point, nth })).toBe('killed')
        }
      }
    })
  })
})
