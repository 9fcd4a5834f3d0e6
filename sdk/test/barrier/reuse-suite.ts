import { GID_REUSE_MARGIN_MS, type Op } from '@counterstep/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { BarrierCall } from '../../src/index.ts'
import type { BarrierFixture } from './barrier-fixture.ts'
import { suiteClock } from './suite-clock.ts'

const SUCCEED = { does: 'succeed' } as const
const DAY_MS = 24 * 3_600_000
const EARLIER_MS = 8 * DAY_MS

interface Row {
  /** The ops that the earlier transaction has run. */
  readonly before: readonly Op[]
  /** The op that the later transaction of the same gid asks for. */
  readonly arrives: Op
  /** A decision, or the code of what is thrown. */
  readonly outcome: string
}

const REUSED: readonly Row[] = [
  { before: ['action'], arrives: 'action', outcome: 'GID_REUSED' },
  { before: ['action'], arrives: 'compensate', outcome: 'null-compensation' },
  { before: ['action', 'compensate'], arrives: 'action', outcome: 'GID_REUSED' },
  { before: ['action', 'compensate'], arrives: 'compensate', outcome: 'null-compensation' },
  { before: ['compensate'], arrives: 'action', outcome: 'GID_REUSED' },
  { before: ['compensate'], arrives: 'compensate', outcome: 'null-compensation' },
  { before: ['try', 'confirm'], arrives: 'try', outcome: 'GID_REUSED' },
  { before: ['try', 'confirm'], arrives: 'confirm', outcome: 'GID_REUSED' },
  { before: ['try', 'confirm'], arrives: 'cancel', outcome: 'null-compensation' },
  { before: ['try', 'cancel'], arrives: 'try', outcome: 'GID_REUSED' },
  { before: ['try', 'cancel'], arrives: 'cancel', outcome: 'null-compensation' },
  // A confirm never asks for its try, whichever transaction made that.
  { before: ['try', 'cancel'], arrives: 'confirm', outcome: 'run' },
  { before: ['msg'], arrives: 'msg', outcome: 'GID_REUSED' },
]

/**
 * The outcomes of the same calls where they may be of one transaction. This is the gap in the protection if they are
 * not.
 */
const ONE_TRANSACTION: readonly Row[] = [
  { before: ['action'], arrives: 'action', outcome: 'duplicate' },
  { before: ['action'], arrives: 'compensate', outcome: 'run' },
  { before: ['try', 'confirm'], arrives: 'confirm', outcome: 'duplicate' },
  { before: ['try'], arrives: 'cancel', outcome: 'run' },
]

/** Defines the tests of a gid that is submitted again when the orchestrator has forgotten its first transaction, for one driver. */
export function reuseSuite(name: string, open: () => Promise<BarrierFixture>): void {
  describe(`a gid that is used again, on ${name}`, () => {
    let fixture: BarrierFixture
    let gids = 0
    const newCall = (op: Op = 'action'): BarrierCall => ({ gid: `reused-${++gids}`, branchId: '01', op })
    beforeAll(async () => {
      fixture = await open()
    })
    afterEach(() => {
      suiteClock.behindMs = 0
    })
    afterAll(() => fixture.close())

    /** Sends a call of a transaction that was accepted so long ago; it comes at once. */
    const arriveBefore = async (agoMs: number, call: BarrierCall) => {
      suiteClock.behindMs = agoMs
      return fixture.run({ ...call, acceptedAt: Date.now() - agoMs }, SUCCEED)
    }
    /** Sends a call that does not say when its transaction was accepted, as those of DTM do not. */
    const arriveUndated = async (agoMs: number, call: BarrierCall) => {
      suiteClock.behindMs = agoMs
      return fixture.run(call, SUCCEED)
    }
    const arriveNow = (call: BarrierCall): Promise<string> => {
      suiteClock.behindMs = 0
      return fixture.run({ ...call, acceptedAt: Date.now() }, { does: 'succeed', answer: 'later' }).then(
        ({ decision, answer }) => (decision === 'duplicate' ? `duplicate ${answer ?? ''}`.trim() : decision),
        (error: { code?: string }) => error.code ?? String(error),
      )
    }
    const readState = async ({ gid }: BarrierCall) => [await fixture.rows(gid), await fixture.effects(gid)]

    for (const { before, arrives, outcome } of REUSED) {
      it(`The op ${arrives} after ${before.join(', ')} of an earlier transaction is answered with ${outcome}, again and again`, async () => {
        const call = newCall(arrives)
        for (const op of before) await arriveBefore(EARLIER_MS, { ...call, op })
        const [rows, effects] = await readState(call)
        expect(await arriveNow(call)).toBe(outcome)
        if (outcome === 'run') return
        expect(await arriveNow(call)).toBe(outcome)
        expect(await readState(call)).toEqual([rows, effects])
      })
    }

    for (const [op, undo] of [
      ['action', 'compensate'],
      ['try', 'cancel'],
    ] as const) {
      it(`The earlier transaction may still run its own ${undo}, should it be under way elsewhere`, async () => {
        const call = newCall(op)
        await arriveBefore(EARLIER_MS, call)
        expect(await arriveNow({ ...call, op: undo })).toBe('null-compensation')
        expect((await arriveBefore(EARLIER_MS, { ...call, op: undo })).decision).toBe('run')
        expect(await fixture.effects(call.gid)).toEqual([op, undo])
      })
    }

    for (const { before, arrives, outcome } of ONE_TRANSACTION) {
      it(`The op ${arrives} takes rows from within the margin for its own, as when an accept was lost, and is decided as ${outcome}`, async () => {
        const call = newCall(arrives)
        const agoMs = GID_REUSE_MARGIN_MS - 60_000
        for (const op of before) await arriveBefore(agoMs, { ...call, op })
        expect(await arriveNow(call)).toBe(outcome)
      })

      it(`Mutant: a barrier that does not compare the instants says ${outcome} to the ${arrives} of another transaction`, async () => {
        const call = newCall(arrives)
        for (const op of before) await arriveBefore(EARLIER_MS, { ...call, op })
        suiteClock.behindMs = 0
        // So do DTM's calls, which do not say when their transaction was accepted: of these nothing can be told.
        expect((await fixture.run(call, SUCCEED)).decision).toBe(outcome)
      })
    }

    for (const [clock, behindMs] of [
      ['behind', 3 * DAY_MS],
      ['ahead', -3 * DAY_MS],
    ] as const) {
      it(`A transaction's own rows are taken for its own while the service's clock is three days ${clock}`, async () => {
        const call = { ...newCall(), acceptedAt: Date.now() }
        const undo = { ...call, op: 'compensate' } as const
        suiteClock.behindMs = behindMs
        const decisions: string[] = []
        for (const each of [call, call, undo, undo, call])
          decisions.push((await fixture.run(each, SUCCEED)).decision)
        expect(decisions).toEqual(['run', 'duplicate', 'run', 'duplicate', 'already-compensated'])
        expect(await fixture.effects(call.gid)).toEqual(['action', 'compensate'])
      })

      it(`An earlier transaction's rows are known as such though the service's clock was three days ${clock} then`, async () => {
        const call = newCall()
        suiteClock.behindMs = behindMs
        await fixture.run({ ...call, acceptedAt: Date.now() - 2 * DAY_MS }, SUCCEED)
        expect(await arriveNow(call)).toBe('GID_REUSED')
        expect(await arriveNow({ ...call, op: 'compensate' })).toBe('null-compensation')
      })
    }

    it('An acceptedAt that is no instant is refused without a row', async () => {
      for (const acceptedAt of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
        const call = { ...newCall(), acceptedAt }
        await expect(fixture.run(call, SUCCEED)).rejects.toMatchObject({ code: 'BRANCH_CALL_INVALID' })
        expect(await fixture.rows(call.gid)).toBe(0)
      }
    })

    it('Branches and barrier ids are kept apart: only those that the earlier transaction had are refused', async () => {
      const call = newCall()
      await arriveBefore(EARLIER_MS, call)
      expect(await arriveNow({ ...call, branchId: '02' })).toBe('run')
      expect(await arriveNow({ ...call, barrierId: '02' })).toBe('run')
      expect(await arriveNow(call)).toBe('GID_REUSED')
    })

    it('An undo waits for the purge of the earlier undo, when its action was purged and has run again', async () => {
      if (fixture.purge === undefined) return expect(name).toMatch(/Redis/)
      const call = newCall()
      const undo = { ...call, op: 'compensate' } as const
      await arriveBefore(10 * DAY_MS, call)
      await arriveUndated(5 * DAY_MS, undo)
      await fixture.purge(Date.now() - 7 * DAY_MS)
      expect([await arriveNow(call), await arriveNow(call)]).toEqual(['run', 'duplicate "later"'])
      expect(await arriveNow(undo)).toBe('BARRIER_UNDO_IN_THE_WAY')
      await fixture.purge(Date.now() - 4 * DAY_MS)
      expect([await arriveNow(undo), await arriveNow(undo)]).toEqual(['run', 'duplicate "later"'])
      expect(await fixture.effects(call.gid)).toEqual(['action', 'compensate', 'action', 'compensate'])
    })

    it('A late action is blocked, when only the undo of the earlier transaction stands', async () => {
      if (fixture.purge === undefined) return expect(name).toMatch(/Redis/)
      const call = newCall()
      const undo = { ...call, op: 'compensate' } as const
      await arriveBefore(10 * DAY_MS, call)
      await arriveUndated(5 * DAY_MS, undo)
      await fixture.purge(Date.now() - 7 * DAY_MS)
      expect([await arriveNow(undo), await arriveNow(undo)]).toEqual([
        'null-compensation',
        'null-compensation',
      ])
      expect(await arriveNow(call)).toBe('already-compensated')
      expect(await fixture.effects(call.gid)).toEqual(['action', 'compensate'])
    })
  })
}
