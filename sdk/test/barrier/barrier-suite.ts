import type { Op } from '@counterstep/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerBranch } from '../../src/http/answer-branch.ts'
import {
  type BarrierCall,
  type BarrierOutcome,
  isBranchError,
  STORED_ANSWER_BYTES_MAX,
} from '../../src/index.ts'
import { callUrl } from '../branch/call-url.ts'
import type { BarrierFixture, SuiteEffect } from './barrier-fixture.ts'
import { originalSuite } from './original-suite.ts'
import { reuseSuite } from './reuse-suite.ts'

export interface BarrierSuite {
  readonly name: string
  readonly open: () => Promise<BarrierFixture>
  /** The number of pairs of concurrent calls. The default is 1,000. */
  readonly pairs?: number
  /** The number of calls under way at once. */
  readonly width: number
}

const SUCCEED = { does: 'succeed' } as const
/** So many rounds of calls have a first one that says no. */
const REFUSED_FIRST = 100
const REFUSED_AT_ONCE = 20
/** `!` after an op marks one whose business says no. */
interface Row {
  readonly before: readonly string[]
  readonly arrives: Op
  readonly decision: BarrierOutcome['decision']
}

const TABLE: readonly Row[] = [
  { before: [], arrives: 'action', decision: 'run' },
  { before: ['action'], arrives: 'action', decision: 'duplicate' },
  { before: ['action!'], arrives: 'action', decision: 'run' },
  { before: ['compensate'], arrives: 'action', decision: 'already-compensated' },
  { before: ['action', 'compensate'], arrives: 'action', decision: 'already-compensated' },
  { before: ['action!', 'compensate'], arrives: 'action', decision: 'already-compensated' },
  { before: ['action', 'compensate!'], arrives: 'action', decision: 'duplicate' },
  { before: [], arrives: 'compensate', decision: 'null-compensation' },
  { before: ['action!'], arrives: 'compensate', decision: 'null-compensation' },
  { before: ['action'], arrives: 'compensate', decision: 'run' },
  { before: ['action', 'compensate!'], arrives: 'compensate', decision: 'run' },
  { before: ['compensate'], arrives: 'compensate', decision: 'duplicate' },
  { before: ['action', 'compensate'], arrives: 'compensate', decision: 'duplicate' },
  { before: ['compensate', 'action'], arrives: 'compensate', decision: 'duplicate' },
  { before: [], arrives: 'try', decision: 'run' },
  { before: ['try'], arrives: 'try', decision: 'duplicate' },
  { before: ['try!'], arrives: 'try', decision: 'run' },
  { before: ['cancel'], arrives: 'try', decision: 'already-compensated' },
  { before: ['try', 'cancel'], arrives: 'try', decision: 'already-compensated' },
  { before: ['try!', 'cancel'], arrives: 'try', decision: 'already-compensated' },
  { before: ['try', 'confirm'], arrives: 'try', decision: 'duplicate' },
  { before: [], arrives: 'cancel', decision: 'null-compensation' },
  { before: ['try!'], arrives: 'cancel', decision: 'null-compensation' },
  { before: ['try'], arrives: 'cancel', decision: 'run' },
  { before: ['try', 'cancel!'], arrives: 'cancel', decision: 'run' },
  { before: ['cancel'], arrives: 'cancel', decision: 'duplicate' },
  { before: ['try', 'cancel'], arrives: 'cancel', decision: 'duplicate' },
  { before: ['cancel', 'try'], arrives: 'cancel', decision: 'duplicate' },
  { before: ['try'], arrives: 'confirm', decision: 'run' },
  { before: ['try', 'confirm!'], arrives: 'confirm', decision: 'run' },
  { before: ['try', 'confirm'], arrives: 'confirm', decision: 'duplicate' },
  { before: [], arrives: 'msg', decision: 'run' },
  { before: ['msg!'], arrives: 'msg', decision: 'run' },
]

/** This is the whole truth table of `invariants.md`, for one driver. */
export function barrierSuite({ name, open, pairs = 1_000, width }: BarrierSuite): void {
  reuseSuite(name, open)
  originalSuite(name, open)
  describe(`the barrier on ${name}`, () => {
    let fixture: BarrierFixture
    let gids = 0
    const newCall = (op: Op = 'action'): BarrierCall => ({ gid: `suite-${++gids}`, branchId: '01', op })

    beforeAll(async () => {
      fixture = await open()
    })
    afterAll(() => fixture.close())

    const arrive = async (call: BarrierCall, step: string): Promise<void> => {
      const op = step.replace('!', '') as Op
      const running = fixture.run({ ...call, op }, { does: step.endsWith('!') ? 'fail' : 'succeed' })
      if (step.endsWith('!')) await expect(running).rejects.toMatchObject({ branchResult: 'failure' })
      else await running
    }

    const effectsOfEach = async (all: readonly string[]) =>
      fixture.effectsOfEach?.(all) ?? Promise.all(all.map((gid) => fixture.effects(gid)))

    describe('the truth table', () => {
      for (const { before, arrives, decision } of TABLE) {
        it(`The op ${arrives} after ${before.join(', ') || 'nothing'} is decided as ${decision}`, async () => {
          const call = newCall(arrives)
          for (const step of before) await arrive(call, step)
          const earlier = await fixture.effects(call.gid)
          expect((await fixture.run(call, SUCCEED)).decision).toBe(decision)
          expect(await fixture.effects(call.gid)).toEqual(
            decision === 'run' ? [...earlier, arrives] : earlier,
          )
        })
      }

      it('The second local transaction of a message fails and leaves nothing', async () => {
        const call = newCall('msg')
        await fixture.run(call, SUCCEED)
        await expect(fixture.run(call, SUCCEED)).rejects.toMatchObject({ code: 'MESSAGE_DUPLICATED' })
        expect(await fixture.effects(call.gid)).toEqual(['msg'])
      })

      for (const [op, undo] of [
        ['action', 'compensate'],
        ['try', 'cancel'],
      ] as const) {
        it(`Every sequence of four arrivals ends with each op at most once, and no ${op} after its undo`, async () => {
          for (let bits = 0; bits < 16; bits++) {
            const { gid } = newCall()
            for (let place = 0; place < 4; place++) {
              await fixture.run({ gid, branchId: '01', op: (bits >> place) & 1 ? undo : op }, SUCCEED)
            }
            expect(['', op, `${op} ${undo}`]).toContain((await fixture.effects(gid)).join(' '))
          }
        })
      }
    })

    describe('the row of a call', () => {
      it('The first answer is given to every duplicate, to the byte', async () => {
        const call = newCall()
        const answer = { id: 7, text: 'Zürich "\\ \u{1F600}', list: [null, 0.1] }
        const first = await fixture.run(call, { does: 'succeed', answer })
        const second = await fixture.run(call, { does: 'succeed', answer: { other: true } })
        expect(JSON.parse(first.answer ?? '')).toEqual(answer)
        expect(second).toEqual({ decision: 'duplicate', answer: first.answer })
      })

      it('An empty answer is kept as well', async () => {
        const call = newCall()
        expect(await fixture.run(call, SUCCEED)).toEqual({ decision: 'run' })
        expect(await fixture.run(call, { does: 'succeed', answer: 1 })).toEqual({ decision: 'duplicate' })
      })

      it('Ids that differ in letter case, in accents or in trailing spaces are kept apart', async () => {
        const { gid } = newCall()
        for (const id of ['a', 'A', 'á', 'a ']) {
          for (const barrierId of ['01', '02']) {
            const call = { gid, branchId: id, op: 'action', barrierId } as const
            expect((await fixture.run(call, SUCCEED)).decision).toBe('run')
            expect((await fixture.run(call, SUCCEED)).decision).toBe('duplicate')
          }
        }
        expect(
          (await fixture.run({ gid: gid.toUpperCase(), branchId: 'a', op: 'action' }, SUCCEED)).decision,
        ).toBe('run')
      })

      it('Ids of 128 bytes are taken, and one of 129 is refused before anything is done', async () => {
        const gid = `${'ü'.repeat(63)}-${++gids % 10}`
        const call = { gid, branchId: 'b'.repeat(128), op: 'action' } as const
        expect((await fixture.run(call, SUCCEED)).decision).toBe('run')
        const tooLong = { ...call, branchId: 'b'.repeat(129) }
        await expect(fixture.run(tooLong, SUCCEED)).rejects.toMatchObject({ code: 'BRANCH_CALL_INVALID' })
        expect(await fixture.effects(gid)).toEqual(['action'])
      })
    })

    describe('calls that do not succeed', () => {
      for (const does of ['fail', 'not-yet', 'break'] as const) {
        it(`An effect that ends with ${does} leaves neither row nor effect, and the next call runs`, async () => {
          const call = newCall()
          await expect(fixture.run(call, { does })).rejects.toThrow()
          expect(await fixture.rows(call.gid)).toBe(0)
          if (fixture.rollsBack) expect(await fixture.effects(call.gid)).toEqual([])
          expect((await fixture.run(call, SUCCEED)).decision).toBe('run')
        })
      }

      it('A failure is thrown as it was thrown, and a broken effect as no failure', async () => {
        await expect(fixture.run(newCall(), { does: 'fail' })).rejects.toMatchObject({
          branchResult: 'failure',
          code: 'SAID_NO',
        })
        await expect(fixture.run(newCall(), { does: 'not-yet' })).rejects.toMatchObject({
          branchResult: 'ongoing',
        })
        const thrown = await fixture.run(newCall(), { does: 'break' }).catch((error: unknown) => error)
        expect(thrown).toBeInstanceOf(Error)
        expect(thrown).not.toHaveProperty('branchResult')
      })

      it('An expired call is refused without a row', async () => {
        for (const op of ['action', 'compensate'] as const) {
          const call = { ...newCall(op), acceptedAt: Date.now() - 60 * 24 * 3_600_000 }
          await expect(fixture.run(call, SUCCEED)).rejects.toMatchObject({ code: 'BARRIER_EXPIRED' })
          expect(await fixture.rows(call.gid)).toBe(0)
          const fresh = { ...call, acceptedAt: Date.now() - 59 * 24 * 3_600_000 }
          expect((await fixture.run(fresh, SUCCEED)).decision).toBe(
            op === 'action' ? 'run' : 'null-compensation',
          )
        }
      })
    })

    describe('an undo that must have something to undo', () => {
      const newUndo = (more: object = {}) => ({ ...newCall('compensate'), mustUndo: true as const, ...more })

      it('It fails each time where no row of its action stands, leaves no row, and runs once there is one', async () => {
        const undo = newUndo()
        for (let attempt = 0; attempt < 2; attempt++)
          await expect(fixture.run(undo, SUCCEED)).rejects.toMatchObject({ code: 'BARRIER_ORIGINAL_MISSING' })
        expect(await fixture.rows(undo.gid)).toBe(0)
        const { mustUndo: _, ...action } = { ...undo, op: 'action' as const }
        expect((await fixture.run(action, SUCCEED)).decision).toBe('run')
        expect((await fixture.run(undo, SUCCEED)).decision).toBe('run')
        expect((await fixture.run(undo, SUCCEED)).decision).toBe('duplicate')
        expect(await fixture.effects(undo.gid)).toEqual(['action', 'compensate'])
      })

      it('It fails alone among others that come at once', async () => {
        const undos = Array.from({ length: 6 }, (_, at) => (at % 3 === 1 ? newUndo() : newCall('compensate')))
        const codes = await Promise.all(
          undos.map((undo) =>
            fixture.run(undo, SUCCEED).then(
              ({ decision }) => decision as string,
              (error: { readonly code?: string }) => error.code,
            ),
          ),
        )
        const [missing, none] = ['BARRIER_ORIGINAL_MISSING', 'null-compensation']
        expect(codes).toEqual([none, missing, none, none, missing, none])
        const rows = await Promise.all(undos.map(({ gid }) => fixture.rows(gid)))
        expect(rows.map((count) => count > 0)).toEqual([true, false, true, true, false, true])
      })
    })

    describe('a refusal that nothing undoes', () => {
      const newFinalCall = () => ({ ...newCall(), hasNoUndo: true as const })

      it('It is kept, and every later copy of the call is held back', async () => {
        const call = newFinalCall()
        await expect(fixture.run(call, { does: 'fail' })).rejects.toMatchObject({ code: 'SAID_NO' })
        for (let copy = 0; copy < 2; copy++)
          await expect(fixture.run(call, SUCCEED)).rejects.toMatchObject({ code: 'SAID_NO' })
        const { hasNoUndo: _, ...unmarked } = call
        expect((await fixture.run(unmarked, SUCCEED)).decision).toBe('already-compensated')
        if (fixture.rollsBack) expect(await fixture.effects(call.gid)).toEqual([])
      })

      it('It is kept with as long and as odd a message as there is room for', async () => {
        for (const message of ['\x7f'.repeat(16_000), 'Ä€𝄞'.repeat(680), '\0'.repeat(2_700)]) {
          const call = newFinalCall()
          // A script of Redis says its own words.
          const said = { code: 'SAID_NO', message: fixture.rollsBack ? message : 'said no' }
          await expect(fixture.run(call, { does: 'fail', message })).rejects.toMatchObject(said)
          await expect(fixture.run(call, SUCCEED)).rejects.toMatchObject(said)
        }
      })

      it('Each of many at once is kept in its words', async () => {
        const calls = Array.from({ length: REFUSED_AT_ONCE }, newFinalCall)
        for (const effect of [{ does: 'fail' }, SUCCEED] as const) {
          const told = await Promise.all(
            calls.map((call) => fixture.run(call, effect).catch((error) => error)),
          )
          for (const error of told) expect(error).toMatchObject({ code: 'SAID_NO' })
        }
      })

      it('It is answered only if no copy of the call has taken effect, or ever will', async () => {
        for (let round = 0; round < REFUSED_FIRST; round++) {
          const call = newFinalCall()
          const copies = [{ does: 'fail' } as const, SUCCEED, SUCCEED]
          const tell = (effect: SuiteEffect) =>
            fixture.run(call, effect).then(
              ({ decision }) => decision,
              ({ code }) => String(code),
            )
          const told = await Promise.all(copies.map(tell))
          const late = await tell(SUCCEED)
          const isDone = late === 'duplicate'
          if (!isDone) expect(late).toBe('SAID_NO')
          for (const each of told) expect(isDone ? ['run', 'duplicate'] : ['SAID_NO']).toContain(each)
          if (fixture.rollsBack) expect(await fixture.effects(call.gid)).toEqual(isDone ? ['action'] : [])
        }
      })

      it('A call that fails otherwise is not held back', async () => {
        for (const does of ['not-yet', 'break'] as const) {
          const call = newFinalCall()
          await expect(fixture.run(call, { does })).rejects.toThrow()
          expect((await fixture.run(call, SUCCEED)).decision).toBe('run')
        }
      })
    })

    describe('calls at once', () => {
      const concurrently = async (calls: readonly BarrierCall[]): Promise<string[]> => {
        const decisions: string[] = []
        let next = 0
        const walk = async (): Promise<void> => {
          for (let at = next++; at < calls.length; at = next++) {
            const call = calls[at]
            if (call !== undefined) decisions[at] = (await fixture.run(call, SUCCEED)).decision
          }
        }
        const before = await fixture.deadlocks?.()
        const startedAt = performance.now()
        await Promise.all(Array.from({ length: width }, walk))
        const ms = Math.round(performance.now() - startedAt)
        const after = await fixture.deadlocks?.()
        if (before !== undefined && after !== undefined) {
          // This counts the deadlocks of the whole server, those of other tests included.
          console.log(
            `${name}: ${calls.length} calls, ${width} at once, ${ms} ms, ${after - before} deadlocks`,
          )
        }
        return decisions
      }

      const makePairs = (
        first: Op,
        second: Op,
      ): { readonly gids: string[]; readonly calls: BarrierCall[] } => {
        const calls = Array.from({ length: pairs }, (_, number) => {
          const call = newCall(first)
          const pair = [call, { ...call, op: second }]
          return number % 2 === 0 ? pair : pair.reverse()
        })
        return { gids: calls.map(([call]) => call?.gid ?? ''), calls: calls.flat() }
      }

      it(`Each of ${pairs} pairs of action and action has one effect, and no deadlock is seen`, async () => {
        const { gids: all, calls } = makePairs('action', 'action')
        const decisions = await concurrently(calls)
        expect(decisions.filter((decision) => decision === 'run')).toHaveLength(pairs)
        expect(decisions.filter((decision) => decision === 'duplicate')).toHaveLength(pairs)
        expect(await effectsOfEach(all)).toEqual(all.map(() => ['action']))
      }, 120_000)

      it(`Each of ${pairs} pairs of action and compensation has one of the two orders, and no deadlock is seen`, async () => {
        const { gids: all, calls } = makePairs('action', 'compensate')
        const decisions = await concurrently(calls)
        const compensated = decisions.filter((decision) => decision === 'null-compensation').length
        expect(decisions.filter((decision) => decision === 'already-compensated')).toHaveLength(compensated)
        expect(decisions.filter((decision) => decision === 'run')).toHaveLength(2 * (pairs - compensated))
        const effects = (await effectsOfEach(all)).map((ops) => ops.join(' '))
        expect(effects).toHaveLength(pairs)
        for (const ops of effects) expect(['', 'action compensate']).toContain(ops)
      }, 120_000)

      it('One of three actions at once runs though the first says no, the others wait, and no deadlock is seen', async () => {
        for (let round = 0; round < REFUSED_FIRST; round++) {
          const call = newCall()
          const first = fixture.run(call, { does: 'fail' })
          const rest = [fixture.run(call, SUCCEED), fixture.run(call, SUCCEED)]
          // Which of them comes first is the database's choice; after a success the no is a duplicate.
          await first.catch((error: unknown) => expect(error).toMatchObject({ branchResult: 'failure' }))
          const decisions = (await Promise.all(rest)).map((outcome) => outcome.decision).sort()
          expect(decisions).toEqual(['duplicate', 'run'])
          expect(await fixture.effects(call.gid)).toEqual(['action'])
        }
      }, 120_000)
    })

    it('A call of DTM, which has no headers, is served for each kind', async () => {
      const calls = [
        ['saga', 'action'],
        ['tcc', 'try'],
        ['msg', 'action'],
      ] as const
      for (const [kind, op] of calls) {
        const { gid } = newCall()
        const url = callUrl({ gid, trans_type: kind, branch_id: '01', op })
        const request = { url, headers: {}, payload: {} }
        const barrier = {
          run: (call: BarrierCall, effect: (tx: undefined) => unknown) => fixture.run(call, reading(effect)),
        }
        const { answer } = await answerBranch(barrier, () => 'done', request)
        expect(answer).toMatchObject({ statusCode: 200, body: '"done"' })
        expect(await fixture.effects(gid)).toEqual([op])
      }
    })

    it('A COMMIT whose answer was lost has an unknown outcome, and the next call agrees with what became of it', async () => {
      if (fixture.runLosingCommit === undefined)
        return expect(fixture.rollsBack || name.includes('Redis')).toBe(true)
      for (const when of ['before', 'after'] as const) {
        const call = newCall()
        const thrown = await fixture.runLosingCommit(call, SUCCEED, when).catch((error: unknown) => error)
        expect(isBranchError(thrown) && thrown.code).toBe('BARRIER_COMMIT_UNKNOWN')
        expect((await fixture.run(call, SUCCEED)).decision).toBe(when === 'before' ? 'run' : 'duplicate')
        expect(await fixture.effects(call.gid)).toEqual(['action'])
      }
    })

    it('An answer that is too long is refused, and its effect is rolled back', async () => {
      const call = newCall()
      const answer = 'x'.repeat(STORED_ANSWER_BYTES_MAX)
      const running = fixture.run(call, { does: 'succeed', answer })
      if (!fixture.rollsBack) return expect(await running).toEqual({ decision: 'run' })
      await expect(running).rejects.toMatchObject({ code: 'BRANCH_ANSWER_TOO_LARGE' })
      expect(await fixture.effects(call.gid)).toEqual([])
    })
  })
}

function reading(effect: (tx: undefined) => unknown): SuiteEffect {
  return { does: 'succeed', answer: effect(undefined) }
}
