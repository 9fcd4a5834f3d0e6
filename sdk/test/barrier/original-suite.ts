import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BarrierCall } from '../../src/index.ts'
import type { BarrierFixture } from './barrier-fixture.ts'

const SUCCEED = { does: 'succeed' } as const
const TELL = { does: 'tell-original' } as const
const UNDOS = [
  ['action', 'compensate'],
  ['try', 'cancel'],
] as const
const ANSWERS = [
  {
    holdId: 7,
    text: 'Zürich "\\ \u{1F600}',
    list: [null, 0.1, 1e21],
    inner: JSON.parse('{"__proto__":{"a":1}}'),
  },
  'a text',
  '',
  0,
  false,
  null,
  [],
]
/** Undos that come at the same time as what they undo. */
const PAIRS = 100

/** Checks one driver: an undo is handed the first answer of the op that it undoes, and no other call is handed anything. */
export function originalSuite(name: string, open: () => Promise<BarrierFixture>): void {
  describe(`what an undo is handed on ${name}`, () => {
    let fixture: BarrierFixture
    let gids = 0
    const newCall = (op: BarrierCall['op']): BarrierCall => ({
      gid: `original-${++gids}`,
      branchId: '01',
      op,
    })
    const succeed = (call: BarrierCall, answer: unknown) => fixture.run(call, { does: 'succeed', answer })

    beforeAll(async () => {
      fixture = await open()
    })
    afterAll(() => fixture.close())

    for (const [op, undo] of UNDOS) {
      it(`a ${undo} is handed the first answer of its ${op}, to the byte`, async () => {
        for (const answer of ANSWERS) {
          const call = newCall(op)
          const first = await succeed(call, answer)
          await succeed(call, 'the answer of a duplicate')
          const undone = await fixture.run({ ...call, op: undo }, TELL)
          expect(undone).toEqual({ decision: 'run', answer: `{"original":${first.answer}}` })
        }
      })

      it(`a ${undo} is handed nothing if its ${op} had an empty answer`, async () => {
        const call = newCall(op)
        await fixture.run(call, SUCCEED)
        expect(await fixture.run({ ...call, op: undo }, TELL)).toEqual({ decision: 'run', answer: '{}' })
      })

      it(`a ${undo} is handed no answer of another gid, branch, barrier id or op`, async () => {
        const { gid } = newCall(op)
        const calls = [gid, `${gid}x`].flatMap((each) =>
          ['01', '02'].flatMap((branchId) =>
            ['01', '02'].map((barrierId) => ({ gid: each, branchId, op, barrierId }) as const),
          ),
        )
        for (const call of calls) {
          for (const other of ['action', 'try', 'confirm'] as const)
            await succeed({ ...call, op: other }, { ...call, op: other })
        }
        for (const call of calls) {
          const undone = await fixture.run({ ...call, op: undo }, TELL)
          expect(JSON.parse(undone.answer ?? '')).toEqual({ original: call })
        }
      })

      it(`a ${undo} that said no before is handed the same answer, and one that comes twice does not run`, async () => {
        const call = newCall(op)
        await succeed(call, { id: call.gid })
        const back = { ...call, op: undo }
        for (const does of ['fail', 'not-yet', 'break'] as const)
          await expect(fixture.run(back, { does })).rejects.toThrow()
        const answer = `{"original":{"id":"${call.gid}"}}`
        expect(await fixture.run(back, TELL)).toEqual({ decision: 'run', answer })
        expect(await fixture.run(back, TELL)).toEqual({ decision: 'duplicate', answer })
      })

      it(`a ${undo} that comes at the same time as its ${op} either knows its answer or does not run`, async () => {
        const undone = await Promise.all(
          Array.from({ length: PAIRS }, async () => {
            const call = newCall(op)
            const [, outcome] = await Promise.all([
              succeed(call, { id: call.gid }),
              fixture.run({ ...call, op: undo }, TELL),
            ])
            return { call, outcome }
          }),
        )
        for (const { call, outcome } of undone) {
          expect([
            { decision: 'run', answer: `{"original":{"id":"${call.gid}"}}` },
            { decision: 'null-compensation' },
          ]).toContainEqual(outcome)
        }
      })

      it(`a ${undo} is handed what its ${op} committed, also if a connection broke at either COMMIT`, async () => {
        const { runLosingCommit } = fixture
        if (runLosingCommit === undefined)
          return expect(fixture.rollsBack || name.includes('Redis')).toBe(true)
        for (const lostBy of ['before', 'after'] as const) {
          const call = newCall(op)
          const back = { ...call, op: undo }
          const lost = runLosingCommit(call, { does: 'succeed', answer: { id: call.gid } }, lostBy)
          await expect(lost).rejects.toMatchObject({ code: 'BARRIER_COMMIT_UNKNOWN' })
          if (lostBy === 'before') {
            expect(await fixture.run(back, TELL)).toEqual({ decision: 'null-compensation' })
            continue
          }
          for (const undoLostBy of ['before', 'after'] as const)
            await expect(runLosingCommit(back, TELL, undoLostBy)).rejects.toThrow()
          const answer = `{"original":{"id":"${call.gid}"}}`
          expect(await fixture.run(back, TELL)).toEqual({ decision: 'duplicate', answer })
        }
      })
    }

    it('an op that undoes none is handed nothing', async () => {
      for (const op of ['action', 'try', 'confirm', 'msg'] as const) {
        const call = newCall(op)
        for (const other of ['action', 'try', 'compensate', 'cancel'] as const)
          if (op === 'confirm' || op === 'msg') await succeed({ ...call, op: other }, 'other')
        expect(await fixture.run(call, TELL)).toEqual({ decision: 'run', answer: '{}' })
      }
    })
  })
}
