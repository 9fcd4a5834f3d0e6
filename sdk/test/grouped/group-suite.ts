import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type GroupApply,
  type GroupBarrier,
  type GroupCall,
  type GroupedBranchOptions,
  groupedBranch,
  takeOut,
} from '../../src/grouped/grouped.ts'
import {
  answerBranch,
  type BarrierCall,
  type BarrierOutcome,
  type Branch,
  BranchFailure,
  BranchOngoing,
  STORED_ANSWER_BYTES_MAX,
} from '../../src/index.ts'
import type { WriteEffects } from './grouped-fixture.ts'

/** Describes one driver on one real database, for the tests of what only groups do. */
export interface GroupFixture<Tx> {
  readonly barrier: GroupBarrier<Tx>
  readonly write: WriteEffects<Tx>
  effects(gid: string): Promise<readonly string[]>
  rows(gid: string): Promise<number>
  /** Ends the transaction, which an `apply` must not do. */
  rollBack(tx: Tx): void | Promise<void>
  /** Makes an error as the driver throws it for the victim of a deadlock. */
  deadlock(): Error
  /** Makes a barrier whose COMMIT loses its answer, if there can be one. */
  losingCommit?(when: 'before' | 'after'): GroupBarrier<Tx>
  /** Makes a barrier whose calls have so long, where handlers may be async. */
  impatient?(timeoutMs: number): GroupBarrier<Tx>
  /** Writes what a constraint refuses at COMMIT, for each of the calls, if the database has such constraints. */
  readonly deferred?: { readonly write: WriteEffects<Tx>; isViolation(error: unknown): boolean }
  /** Tells whether groups of different keys can be under way at once. */
  readonly isConcurrent: boolean
  close(): Promise<void>
}

type Outcome = BarrierOutcome['decision'] | string

export function groupSuite<Tx>(name: string, open: () => Promise<GroupFixture<Tx>>): void {
  describe(`groups on ${name}`, () => {
    let fixture: GroupFixture<Tx>
    let gids = 0
    const newCall = (op: BarrierCall['op'] = 'action'): BarrierCall => ({
      gid: `g-${++gids}`,
      branchId: '01',
      op,
    })
    const newCalls = (count: number): BarrierCall[] => Array.from({ length: count }, () => newCall())
    beforeAll(async () => {
      fixture = await open()
    })
    afterAll(() => fixture.close())

    /** Makes a branch whose entries are what its calls answer: an Error is returned as the call's result. */
    const grouped = (
      judge: (calls: readonly GroupCall<unknown>[]) => readonly unknown[] = (calls) =>
        calls.map(({ entry }) => entry),
      options: Partial<GroupedBranchOptions<Tx, unknown>> = {},
      barrier: GroupBarrier<Tx> = fixture.barrier,
    ) => {
      const applied: (readonly GroupCall<unknown>[])[] = []
      const apply: GroupApply<Tx, unknown> = (tx, calls) => {
        applied.push(calls)
        const results = judge(calls)
        // A call that returns an error has written nothing.
        const writing = fixture.write(
          tx,
          calls.filter((_, at) => !(results[at] instanceof Error)),
        )
        return writing === undefined ? results : writing.then(() => results)
      }
      const branch = groupedBranch(barrier, {
        key: () => 'one',
        apply,
        ...options,
      })
      return { branch, applied, sizes: () => applied.map((calls) => calls.length) }
    }
    const catchOutcome = (running: Promise<BarrierOutcome>): Promise<Outcome> =>
      running.then(
        (outcome) => `${outcome.decision} ${outcome.answer ?? ''}`,
        (error: Error & { code?: string }) => `${error.name} ${error.code ?? ''} ${error.message}`,
      )
    const readState = async ({ gid }: BarrierCall) => [
      await fixture.rows(gid),
      (await fixture.effects(gid)).join(),
    ]
    const DONE = [1, 'action']
    const NOTHING = [0, '']

    it('Calls that come at once are served by one apply, and each gets its own answer', async () => {
      const { branch, sizes } = grouped()
      const calls = newCalls(50)
      const outcomes = await Promise.all(calls.map((call, number) => branch.run(call, () => ({ number }))))
      expect(sizes()).toEqual([50])
      expect(outcomes.map(({ answer }) => answer)).toEqual(calls.map((_, number) => `{"number":${number}}`))
      for (const call of calls) expect(await readState(call)).toEqual(DONE)
    })

    it('A call that stands several times in one group runs once, and all of them get the first answer', async () => {
      const { branch, sizes } = grouped()
      const [one = newCall(), other = newCall()] = newCalls(2)
      const calls = [one, other, one, one, other]
      const outcomes = await Promise.all(calls.map((call, number) => branch.run(call, () => number)))
      expect(outcomes.map(({ decision }) => decision)).toEqual([
        'run',
        'run',
        'duplicate',
        'duplicate',
        'duplicate',
      ])
      expect(outcomes.map(({ answer }) => answer)).toEqual(['0', '1', '0', '0', '1'])
      expect(sizes()).toEqual([2])
      expect([await readState(one), await readState(other)]).toEqual([DONE, DONE])
    })

    it('The duplicates of earlier calls are found among new ones, whether these were served in a group or not', async () => {
      const { branch } = grouped()
      const calls = newCalls(30)
      for (const call of calls.slice(0, 3)) {
        await fixture.barrier.run(call, (tx) => {
          const writing = fixture.write(tx, [{ call, entry: undefined }])
          return writing === undefined ? 'plain' : writing.then(() => 'plain')
        })
      }
      await Promise.all(calls.slice(3, 6).map((call) => branch.run(call, () => 'grouped')))
      const outcomes = await Promise.all(calls.map((call) => branch.run(call, () => 'again')))
      const answers = outcomes.map(({ decision, answer }) => `${decision} ${answer}`)
      expect(answers.slice(0, 7)).toEqual([
        ...Array(3).fill('duplicate "plain"'),
        ...Array(3).fill('duplicate "grouped"'),
        'run "again"',
      ])
      expect((await fixture.barrier.run(calls[9] ?? newCall(), () => 'plain')).answer).toBe('"again"')
      for (const call of calls) expect(await readState(call)).toEqual(DONE)
    })

    for (const ops of [
      ['action', 'action!', 'compensate', 'compensate!'],
      ['try', 'try!', 'confirm', 'cancel'],
    ]) {
      it(`A group decides for every order of ${ops.join(', ')} as the plain barrier does one after the other`, async () => {
        const sequences = listSequences(ops, 4)
        const no = () => new BranchFailure('said no', { code: 'SAID_NO' })
        const makeCalls = (sequence: readonly string[]): BarrierCall[] => {
          const { gid } = newCall()
          return sequence.map((step) => ({
            gid,
            branchId: '01',
            op: step.replace('!', '') as BarrierCall['op'],
          }))
        }
        const { branch } = grouped(undefined, { groupMax: 1_000 })
        const ours = sequences.map(makeCalls)
        const outcomes = await Promise.all(
          sequences.map((sequence, number) =>
            Promise.all(
              (ours[number] ?? []).map((call, place) =>
                catchOutcome(
                  branch.run(call, (_, original) =>
                    sequence[place]?.endsWith('!') ? no() : { place, original },
                  ),
                ),
              ),
            ),
          ),
        )
        for (const [number, sequence] of sequences.entries()) {
          const expected: Outcome[] = []
          const plain = makeCalls(sequence)
          for (const [place, call] of plain.entries()) {
            const running = fixture.barrier.run(call, (tx, original) => {
              if (sequence[place]?.endsWith('!')) throw no()
              const writing = fixture.write(tx, [{ call, entry: undefined }])
              const answer = { place, original }
              return writing === undefined ? answer : writing.then(() => answer)
            })
            expected.push(await catchOutcome(running))
          }
          expect([sequence, outcomes[number]]).toEqual([sequence, expected])
          expect([sequence, await readState(ours[number]?.[0] ?? newCall())]).toEqual([
            sequence,
            await readState(plain[0] ?? newCall()),
          ])
        }
      }, 120_000)
    }

    it('An action that stands already, its undo and the action again may meet in one group', async () => {
      const { branch } = grouped()
      const call = newCall()
      await branch.run(call, () => 'first')
      const calls = [call, ...newCalls(5), { ...call, op: 'compensate' } as const, call]
      const outcomes = await Promise.all(
        calls.map((each, at) => branch.run(each, (_, original) => ({ at, original }))),
      )
      expect([outcomes[0], outcomes[6], outcomes[7]]).toEqual([
        { decision: 'duplicate', answer: '"first"' },
        { decision: 'run', answer: '{"at":6,"original":"first"}' },
        { decision: 'already-compensated' },
      ])
      expect(await fixture.effects(call.gid)).toEqual(['action', 'compensate'])
    })

    it('Nothing of what a group did for a branch is kept when it is rolled back over another call of that branch', async () => {
      let poisoned = 0
      const { branch } = grouped((calls) =>
        calls.map(({ entry }) => {
          if (entry === 'poison' && ++poisoned < 2) throw new Error('once')
          return entry
        }),
      )
      const tries = newCalls(3).map((call) => ({ ...call, op: 'try' as const }))
      const confirms = tries.map((call) => ({ ...call, op: 'confirm' as const }))
      const [first = newCall()] = tries
      await branch.run(first, () => 'earlier')
      // The confirms are first; of the tries after them one stands already, and one throws once.
      const calls = [...confirms, ...tries]
      const entries = [1, 2, 3, 4, 5, 'poison']
      const outcomes = await Promise.all(calls.map((call, at) => branch.run(call, () => entries[at])))
      expect(outcomes.map(({ decision }) => decision)).toEqual([
        'run',
        'run',
        'run',
        'duplicate',
        'run',
        'run',
      ])
      expect(outcomes.map(({ answer }) => answer)).toEqual(['1', '2', '3', '"earlier"', '5', '"poison"'])
      for (const call of tries)
        expect((await fixture.effects(call.gid)).toSorted()).toEqual(['confirm', 'try'])
    })

    it('A call that is refused before it wrote leaves its group to commit the others in one go', async () => {
      const { branch, sizes } = grouped()
      const calls = newCalls(5)
      const entries = [1, new BranchFailure('no'), 3, new BranchOngoing(), new Error('broken')]
      const outcomes = await Promise.all(
        calls.map((call, at) => catchOutcome(branch.run(call, () => entries[at]))),
      )
      expect(outcomes).toEqual([
        'run 1',
        'BranchFailure BRANCH_FAILED no',
        'run 3',
        'BranchOngoing BRANCH_NOT_YET not yet',
        'Error  broken',
      ])
      expect(sizes()).toEqual([5])
      expect(await Promise.all(calls.map(readState))).toEqual([DONE, NOTHING, DONE, NOTHING, NOTHING])
    })

    it('A group whose every call is refused leaves nothing, and each call may come again', async () => {
      const { branch } = grouped()
      const calls = newCalls(3)
      for (const call of calls) {
        await expect(branch.run(call, () => new BranchFailure('no'))).rejects.toThrow('no')
      }
      const refused = calls.map((call) => catchOutcome(branch.run(call, () => new BranchFailure('no'))))
      expect(new Set(await Promise.all(refused)).size).toBe(1)
      expect(await Promise.all(calls.map(readState))).toEqual([NOTHING, NOTHING, NOTHING])
      expect((await branch.run(calls[0] ?? newCall(), () => 1)).decision).toBe('run')
    })

    it('An error of a handler concerns its own call alone', async () => {
      const { branch, sizes } = grouped()
      const calls = newCalls(3)
      const outcomes = await Promise.all(
        calls.map((call, at) =>
          catchOutcome(
            branch.run(call, () => {
              if (at === 1) throw new BranchFailure('no such account')
              return at
            }),
          ),
        ),
      )
      expect(outcomes).toEqual(['run 0', 'BranchFailure BRANCH_FAILED no such account', 'run 2'])
      expect(sizes()).toEqual([2])
      expect(await Promise.all(calls.map(readState))).toEqual([DONE, NOTHING, DONE])
    })

    it('Async handlers of a group run at once', async () => {
      if (!fixture.isConcurrent) return expect(fixture.losingCommit).toBeUndefined()
      const { branch, sizes } = grouped()
      const calls = newCalls(20)
      let under = 0
      let allAreUnderWay = (): void => undefined
      const all = new Promise<void>((resolve) => {
        allAreUnderWay = resolve
      })
      const handler = async (at: number): Promise<number> => {
        if (++under === calls.length) allAreUnderWay()
        await all
        if (at === 3) throw new BranchFailure('no')
        return at
      }
      const outcomes = await Promise.all(
        calls.map((call, at) => catchOutcome(branch.run(call, () => handler(at)))),
      )
      expect(outcomes.filter((outcome) => outcome.startsWith('run'))).toHaveLength(19)
      expect(outcomes[3]).toBe('BranchFailure BRANCH_FAILED no')
      expect(sizes()).toEqual([19])
    })

    it('Handlers that are late fail alone, and the others are committed', async () => {
      if (fixture.impatient === undefined) return expect(fixture.isConcurrent).toBe(false)
      const { branch } = grouped(undefined, {}, fixture.impatient(1_000))
      const calls = newCalls(6)
      const never = new Promise<never>(() => undefined)
      const outcomes = await Promise.all(
        calls.map((call, at) => catchOutcome(branch.run(call, () => (at % 3 === 1 ? never : at)))),
      )
      for (const [at, outcome] of outcomes.entries())
        expect(outcome).toMatch(at % 3 === 1 ? /^BranchError BARRIER_TIMED_OUT/ : /^run/)
      const states = await Promise.all(calls.map(readState))
      expect(states).toEqual(calls.map((_, at) => (at % 3 === 1 ? NOTHING : DONE)))
    })

    for (const isAbortedByAll of [true, false]) {
      const title = isAbortedByAll
        ? 'S40: A group is rolled back at once when the signals of all its calls abort, and leaves no lock'
        : 'S40: A group goes on for the call whose signal has not aborted'
      it(title, async () => {
        if (!fixture.isConcurrent) return expect(fixture.losingCommit).toBeUndefined()
        const controllers = [new AbortController(), new AbortController()]
        const calls = controllers.map(({ signal }) => ({ ...newCall(), signal }))
        const [last, ...others] = controllers
        let ended: Promise<unknown> | undefined
        const branch = groupedBranch(fixture.barrier, {
          key: () => 'one',
          apply: async (tx, each) => {
            await fixture.write(tx, each)
            for (const other of others) other.abort()
            if (isAbortedByAll) last?.abort()
            await ended
            return each.map(({ entry }) => entry)
          },
        })
        if (isAbortedByAll) ended = new Promise(() => undefined)
        const outcomes = await Promise.all(calls.map((call) => catchOutcome(branch.run(call, () => 1))))
        for (const outcome of outcomes)
          expect(outcome).toMatch(isAbortedByAll ? /^BranchError BARRIER_TIMED_OUT .*signal/ : /^run/)
        ended = undefined
        const again = await Promise.all(
          calls.map(({ signal: _, ...call }) => catchOutcome(branch.run(call, () => 1))),
        )
        for (const outcome of again) expect(outcome).toMatch(isAbortedByAll ? /^run/ : /^duplicate/)
        expect(await Promise.all(calls.map(readState))).toEqual([DONE, DONE])
      })
    }

    it('The one call that fails at the COMMIT is found, and fails alone', async () => {
      if (fixture.deferred === undefined) return expect(fixture.losingCommit).toBeDefined()
      const { write, isViolation } = fixture.deferred
      const branch = groupedBranch(fixture.barrier, {
        key: () => 'one',
        apply: (tx, calls) => {
          const results = calls.map(({ entry }) => entry)
          const writing = write(
            tx,
            calls.filter(({ entry }) => entry === 5),
          )
          if (writing === undefined) return results
          return writing.then(() => results)
        },
      })
      const calls = newCalls(16)
      const running = calls.map((call, at) => branch.run(call, () => at))
      const settled = await Promise.allSettled(running)
      expect(settled.map(({ status }) => status === 'fulfilled')).toEqual(calls.map((_, at) => at !== 5))
      expect(settled[5]?.status === 'rejected' && isViolation(settled[5].reason)).toBe(true)
      const rows = await Promise.all(calls.map(({ gid }) => fixture.rows(gid)))
      expect(rows).toEqual(calls.map((_, at) => (at === 5 ? 0 : 1)))
    })

    it('A call that failed after it wrote is taken out, and answered by what becomes of it alone', async () => {
      // The second fails always, the third only in company.
      const { branch, applied } = grouped((calls) =>
        calls.map(({ entry }) => {
          if (entry === 1) return takeOut(new BranchFailure('always'))
          return entry === 2 && calls.length > 1 ? takeOut(new BranchFailure('in company')) : entry
        }),
      )
      const calls = newCalls(5)
      const outcomes = await Promise.all(calls.map((call, at) => catchOutcome(branch.run(call, () => at))))
      expect(outcomes).toEqual(['run 0', 'BranchFailure BRANCH_FAILED always', 'run 2', 'run 3', 'run 4'])
      expect(applied.map((group) => group.map(({ entry }) => entry))).toEqual([
        [0, 1, 2, 3, 4],
        [0, 3, 4],
        [1],
        [2],
      ])
      expect(await Promise.all(calls.map(readState))).toEqual([DONE, NOTHING, DONE, DONE, DONE])
    })

    it('An answer that cannot be kept is taken out with its effect', async () => {
      const { branch } = grouped()
      const calls = newCalls(3)
      const entries = [1, 'x'.repeat(STORED_ANSWER_BYTES_MAX), 3]
      const outcomes = await Promise.all(
        calls.map((call, at) => catchOutcome(branch.run(call, () => entries[at]))),
      )
      expect(outcomes[1]).toMatch(/^BranchError BRANCH_ANSWER_TOO_LARGE/)
      expect(await Promise.all(calls.map(readState))).toEqual([DONE, NOTHING, DONE])
    })

    it('The one call that apply throws for is found, and fails alone', async () => {
      const { branch, sizes } = grouped((calls) =>
        calls.map(({ entry }) => {
          if (entry === 29) throw new Error('poison')
          return entry
        }),
      )
      const calls = newCalls(64)
      const outcomes = await Promise.all(calls.map((call, at) => catchOutcome(branch.run(call, () => at))))
      expect(outcomes.filter((outcome) => outcome.startsWith('run'))).toHaveLength(63)
      expect(outcomes[29]).toBe('Error  poison')
      // The group is halved: there are two parts for each power of two, and the whole.
      expect(sizes().length).toBeLessThanOrEqual(13)
      const states = await Promise.all(calls.map(readState))
      expect(states[29]).toEqual(NOTHING)
      expect(states.filter(([rows]) => rows === 1)).toHaveLength(63)
    })

    it('The whole group runs again after a deadlock, with all of its calls', async () => {
      let runs = 0
      const { branch, sizes } = grouped((calls) => {
        if (++runs < 3) throw new Error('the query failed', { cause: fixture.deadlock() })
        return calls.map(() => 'done')
      })
      const calls = newCalls(7)
      const outcomes = await Promise.all(calls.map((call) => branch.run(call, () => 0)))
      expect(outcomes.every(({ decision }) => decision === 'run')).toBe(true)
      expect(sizes()).toEqual([7, 7, 7])
      for (const call of calls) expect(await readState(call)).toEqual(DONE)
    })

    it.each([1, 3])(
      'Each handler of a group that runs again after a deadlock gets its payload as it came: %d calls',
      async (count) => {
        let runs = 0
        const { branch } = grouped((calls) => {
          if (++runs === 1) throw new Error('the query failed', { cause: fixture.deadlock() })
          return calls.map(({ entry }) => entry)
        })
        const answering = newCalls(count).map(({ gid }) =>
          answerBranch(
            branch,
            (_, { payload }: Branch<{ lines: string[] }>) => payload.lines.splice(0).join(),
            {
              url: `/debit?gid=${gid}&trans_type=saga&branch_id=01&op=action`,
              headers: {},
              payload: { lines: ['alice', 'bob'] },
            },
          ),
        )
        const bodies = (await Promise.all(answering)).map(({ answer }) => answer.body)
        expect(bodies).toEqual(bodies.map(() => '"alice,bob"'))
        expect(runs).toBe(2)
      },
    )

    it.each([1, 3])(
      'Promises are no results of a group, and nothing of it is kept: %d calls',
      async (count) => {
        const branch = groupedBranch(fixture.barrier, {
          key: () => 'one',
          apply: (_, calls) => calls.map(({ entry }) => Promise.reject(entry)),
        })
        const calls = newCalls(count)
        const running = calls.map((call) => catchOutcome(branch.run(call, () => new BranchFailure('no'))))
        for (const outcome of await Promise.all(running)) {
          expect(outcome).toMatch(/^BranchError BRANCH_RESULTS_INVALID/)
        }
        for (const call of calls) expect(await fixture.rows(call.gid)).toBe(0)
      },
    )

    it('No row is committed of a group whose apply has ended the transaction', async () => {
      const branch = groupedBranch(fixture.barrier, {
        key: () => 'one',
        apply: (tx, calls) => {
          const ending = fixture.rollBack(tx)
          const results = calls.map(({ entry }) => entry)
          return ending === undefined ? results : ending.then(() => results)
        },
      })
      // It is the same when every call of it failed.
      for (const entry of [0, new BranchFailure('no')]) {
        const calls = [...newCalls(3), newCall('compensate')]
        const outcomes = await Promise.all(calls.map((call) => catchOutcome(branch.run(call, () => entry))))
        for (const outcome of outcomes) expect(outcome).toMatch(/^BranchError BARRIER_TRANSACTION_LOST/)
        for (const call of calls) expect(await fixture.rows(call.gid)).toBe(0)
      }
    })

    it('The outcome of a group is unknown when the answer to its COMMIT is lost, and the next calls agree with what became of it', async () => {
      if (fixture.losingCommit === undefined) return expect(fixture.isConcurrent).toBe(false)
      for (const when of ['before', 'after'] as const) {
        const { branch } = grouped(undefined, {}, fixture.losingCommit(when))
        const calls = newCalls(4)
        const entries = [1, new BranchFailure('no'), 3, 4]
        const outcomes = await Promise.all(
          calls.map((call, at) => catchOutcome(branch.run(call, () => entries[at]))),
        )
        expect(outcomes.filter((outcome) => outcome.includes('BARRIER_COMMIT_UNKNOWN'))).toHaveLength(4)
        const again = grouped().branch
        const decisions = await Promise.all(
          calls.map(async (call) => (await again.run(call, () => 5)).decision),
        )
        const expected = when === 'before' ? 'run' : 'duplicate'
        expect(decisions).toEqual([expected, 'run', expected, expected])
        for (const call of calls) expect(await readState(call)).toEqual(DONE)
      }
    })

    it('Groups of different keys are served at once, and those of one key one after the other', async () => {
      if (!fixture.isConcurrent) return expect(fixture.losingCommit).toBeUndefined()
      let under = 0
      const seen: number[] = []
      let release = (): void => undefined
      const bothAreIn = new Promise<void>((resolve) => {
        release = resolve
      })
      const branch = groupedBranch(fixture.barrier, {
        key: ({ branchId }) => branchId,
        groupMax: 2,
        apply: async (tx, calls) => {
          seen.push(++under)
          if (under === 2) release()
          await bothAreIn
          await fixture.write(tx, calls)
          under--
          return calls.map(() => 'done')
        },
      })
      const calls = newCalls(8).map((call, at) => ({ ...call, branchId: at % 2 === 0 ? 'even' : 'odd' }))
      await Promise.all(calls.map((call) => branch.run(call, () => 0)))
      expect(seen).toHaveLength(4)
      expect(Math.max(...seen)).toBe(2)
    })
  })
}

function listSequences(steps: readonly string[], lengthMax: number): readonly (readonly string[])[] {
  const all: string[][] = []
  let longest: string[][] = [[]]
  for (let length = 1; length <= lengthMax; length++) {
    longest = longest.flatMap((sequence) => steps.map((step) => [...sequence, step]))
    all.push(...longest)
  }
  return all
}
