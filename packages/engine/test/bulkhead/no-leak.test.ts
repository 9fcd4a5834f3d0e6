import { type BranchCall, shareBounds } from '@counterstep/core'
import type { Gid, SagaSubmitRequest } from '@counterstep/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Bulkhead } from '../../src/bulkhead/bulkhead.ts'
import { HeldPlaces } from '../../src/bulkhead/held-places.ts'
import { Pool } from '../../src/bulkhead/pool.ts'
import { Target } from '../../src/bulkhead/target.ts'
import { Fixture, type TestNode } from '../support/fixture.ts'
import type { Answer } from '../support/participants.ts'

/** Reads an engine's own counters through its protected assembly. */
function heldBy({ engine }: TestNode): number {
  return (engine as unknown as { readonly assembly: { readonly bulkhead: Bulkhead } }).assembly.bulkhead.held
}

const ORIGINS = ['http://a.test', 'http://b.test', 'http://c.test', '']
const originIndexes = fc.nat({ max: ORIGINS.length - 1 })
const sagas = fc.array(
  fc.record({
    origins: fc.array(fc.tuple(originIndexes, originIndexes), { minLength: 1, maxLength: 5 }),
    isParallel: fc.boolean(),
    isStrict: fc.boolean(),
    hasDeadline: fc.boolean(),
    command: fc.constantFrom('none', 'none', 'abort', 'stop'),
  }),
  { minLength: 1, maxLength: 60 },
)
type SagaDraw = typeof sagas extends fc.Arbitrary<readonly (infer Draw)[]> ? Draw : never

function sagaOfDraw(draw: SagaDraw, gid: string): SagaSubmitRequest {
  const buildUrl = (index: number, op: string) => `${ORIGINS[index]}/${gid}/${op}`
  return {
    gid,
    timeoutMs: 5_000,
    retry: { initialMs: 20, capMs: 3_000 },
    ...(draw.isStrict ? { checkpointMs: 0 } : {}),
    ...(draw.hasDeadline ? { deadlineMs: 4_000 } : {}),
    branches: draw.origins.map(([action, undo]) => ({
      action: ORIGINS[action] === '' ? 'http://a.test/x' : buildUrl(action, 'action'),
      compensation: ORIGINS[undo] === '' ? 'http://b.test/x' : buildUrl(undo, 'undo'),
      ...(draw.isParallel ? { after: [] } : {}),
    })),
  }
}

describe('S40: no place leaks', () => {
  it('in random runs with failures, deadlines, commands, and fencing: after them nothing is held', {
    timeout: 120_000,
  }, async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(sagas, fc.infiniteStream(fc.nat({ max: 99 })), async (draws, luck) => {
        const fixture = new Fixture()
        const draw = () => luck.next().value as number
        let isHealed = false
        fixture.services.otherwise = async (_call: BranchCall): Promise<Answer> => {
          const n = isHealed ? 0 : draw()
          await fixture.time.delay(n < 80 ? n : n * 60)
          if (n < 60) return 'success'
          return n < 75 ? 'unknown' : n < 85 ? 'ongoing' : n < 92 ? 'lost' : 'failure'
        }
        const small = { inFlightMax: 8, callsInFlightMax: 6, recoveryInFlightMax: 4, claimLimit: 4 }
        const settings = { ...small, leaseMs: 2_000, pollMs: 200, targetCallsPerSecond: 200 }
        const nodes = [await fixture.node(settings), await fixture.node(settings)]
        for (const [n, given] of draws.entries()) {
          const node = nodes[n % 2] as TestNode
          const gid = `g${n}`
          await node.submit(sagaOfDraw(given, gid)).catch(() => undefined)
          if (given.command !== 'none') {
            void node.engine[given.command](gid as Gid).catch(() => undefined)
          }
          // The node is frozen past its lease, so the other node takes its transactions over, and its saves are fenced.
          if (draw() < 4) {
            nodes[0]?.freeze()
            await fixture.time.advance(2_500)
            nodes[0]?.thaw()
          }
          if (draw() < 15) await fixture.time.advance(draw() * 10)
        }
        isHealed = true
        await fixture.time.until('all have ended', async () => (await fixture.unfinished()) === 0, 600_000)
        // The calls of runs that were lost end by themselves.
        await fixture.time.advance(20_000)
        expect(nodes.map(heldBy)).toEqual([0, 0])
        for (const node of nodes) {
          expect(node.seen.named('transaction-step-failed')).toEqual([])
          expect(node.seen.named('transaction-attempt-failed')).toEqual([])
          for (const { name } of node.seen.events) seen.add(name)
          await node.engine.close(1_000)
        }
        expect(nodes.map(heldBy)).toEqual([0, 0])
      }),
      { numRuns: 25 },
    )
    // Without these the test would show nothing.
    expect([...seen]).toEqual(expect.arrayContaining(['target-over-share', 'transaction-lost']))
  })

  it('whatever its calls build from values, and in whatever order they end', () => {
    const KIB = 1024
    const steps = fc.array(
      fc.record({
        step: fc.constantFrom('enter', 'enter', 'done', 'not yet', 'withdraw'),
        index: fc.nat({ max: 1 }),
        bytes: fc.nat({ max: 300 * KIB }),
      }),
    )
    fc.assert(
      fc.property(steps, fc.boolean(), (given, isCleared) => {
        const pool = new Pool('freshTransactions', shareBounds(100, 0.5))
        const targets = ['a', 'b'].map((name) => new Target(name))
        const places = new HeldPlaces(pool, new Pool('freshWaiters', shareBounds(100, 0.5)))
        const open: number[][] = [[], []]
        for (const { step, index, bytes } of given) {
          const target = targets[index] as Target
          const calls = open[index] as number[]
          if (step === 'enter') {
            if (places.enter(target, bytes)) calls.push(bytes)
          } else {
            const built = calls.shift()
            if (built === undefined) continue
            if (step === 'withdraw') places.withdraw(target, built)
            else places.leave(target, step === 'done', built)
          }
          for (const [n, each] of targets.entries()) {
            const sum = (open[n] as number[]).reduce((total, built) => total + built, 0)
            const forBytes = Math.floor(sum / (32 * KIB))
            expect((each.held[0] ?? 0) - forBytes).toBeGreaterThanOrEqual(
              (open[n] as number[]).length > 0 ? 1 : 0,
            )
            expect((each.held[0] ?? 0) - forBytes).toBeLessThanOrEqual(1)
          }
          // One call may go over the bound, which is that of transactions under way.
          expect(pool.used).toBeLessThan(100 + 300 / 32)
        }
        if (!isCleared)
          for (const [n, each] of targets.entries())
            for (const built of (open[n] as number[]).splice(0)) places.leave(each, true, built)
        places.clear()
        expect(pool.used).toBe(0)
      }),
    )
  })

  it('whatever a transaction calls, and in whatever order its calls end', () => {
    const steps = fc.array(
      fc.tuple(fc.constantFrom('enter', 'done', 'not yet', 'withdraw', 'wait', 'clear'), fc.nat({ max: 2 })),
    )
    fc.assert(
      fc.property(steps, (given) => {
        const pool = new Pool('freshTransactions', shareBounds(100, 0.5))
        const targets = ['a', 'b', 'c'].map((name) => new Target(name))
        const waiters = new Pool('freshWaiters', shareBounds(100, 0.5))
        const places = new HeldPlaces(pool, waiters)
        const open = [0, 0, 0]
        let isCleared = false
        for (const [step, index] of given) {
          const target = targets[index] as Target
          if (step === 'clear') {
            places.clear()
            isCleared = true
          } else if (step === 'enter') {
            if (places.enter(target)) open[index] = (open[index] ?? 0) + 1
            if (!isCleared) expect(waiters.used).toBe(0)
          } else if (step === 'wait') {
            expect(places.waitForRoom(target)).toBe(true)
            places.measureNoRoomMs(0)
            expect(waiters.used).toBe(isCleared ? 0 : 1)
          } else if ((open[index] ?? 0) > 0) {
            if (step === 'withdraw') places.withdraw(target)
            else places.leave(target, step === 'done')
            open[index] = (open[index] ?? 0) - 1
          }
          // A target with a call under way has exactly one place, and all places are of targets that it waits for.
          for (const [n, each] of targets.entries()) {
            const held = each.held[0] ?? 0
            if (isCleared) expect(held).toBe(0)
            else if ((open[n] ?? 0) > 0) expect(held).toBe(1)
            else expect(held).toBeLessThanOrEqual(1)
          }
          expect(pool.used).toBe(targets.reduce((sum, { held }) => sum + (held[0] ?? 0), 0))
        }
        places.clear()
        places.clear()
        expect([pool.used, waiters.used]).toEqual([0, 0])
      }),
    )
  })
})
