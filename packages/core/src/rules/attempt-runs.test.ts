import { ATTEMPT_RUNS_MAX, type AttemptRun, RUN_EXCERPT_LENGTH_MAX } from '@counterstep/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answered, asSaga, CREATED_AT, sent, serial } from '../../test/sagas.ts'
import { transition } from '../../test/transition.ts'
import type { BranchAnswer } from '../ports/ports.ts'
import { addAttempt, nameOutcome } from './attempt-runs.ts'

const OUTCOMES: readonly (readonly [answer: BranchAnswer, outcome: string])[] = [
  [{ result: 'unknown', statusCode: 500 }, '500'],
  [{ result: 'unknown', error: 'timeout' }, 'timeout'],
  [{ result: 'unknown', statusCode: 200, error: 'reset' }, 'reset'],
  [{ result: 'unknown' }, 'unknown'],
  [{ result: 'ongoing', statusCode: 425 }, '425'],
  [{ result: 'ongoing', statusCode: 200 }, '425'],
  [{ result: 'failure', statusCode: 409 }, '409'],
  [{ result: 'failure', statusCode: 200 }, '409'],
]

function gather(answers: readonly BranchAnswer[]): readonly AttemptRun[] {
  return answers.reduce<readonly AttemptRun[]>(
    (runs, answer, i) => addAttempt(runs, { attempt: i + 1, answer }, CREATED_AT + i),
    [],
  )
}

describe('the word for an outcome', () => {
  for (const [answer, outcome] of OUTCOMES)
    it(`${JSON.stringify(answer)} is ${outcome}`, () => expect(nameOutcome(answer)).toBe(outcome))
})

describe('runs of attempts', () => {
  const status = (statusCode: number): BranchAnswer => ({
    result: 'unknown',
    statusCode,
    excerpt: `${statusCode}!`,
  })

  it('Attempts with one outcome are one run, which has the last answer', () => {
    const runs = gather([status(500), { ...status(500), excerpt: 'lock wait' }, { ...status(502) }])
    expect(runs).toEqual([
      {
        outcome: '500',
        from: 1,
        count: 2,
        firstAt: CREATED_AT,
        lastAt: CREATED_AT + 1,
        excerpt: 'lock wait',
      },
      { outcome: '502', from: 3, count: 1, firstAt: CREATED_AT + 2, lastAt: CREATED_AT + 2, excerpt: '502!' },
    ])
  })

  it('Beyond the bound the two oldest become one', () => {
    const runs = gather(Array.from({ length: ATTEMPT_RUNS_MAX + 3 }, (_, i) => status(500 + (i % 2))))
    expect(runs).toHaveLength(ATTEMPT_RUNS_MAX)
    expect(runs[0]).toEqual({
      outcome: 'mixed',
      from: 1,
      count: 4,
      firstAt: CREATED_AT,
      lastAt: CREATED_AT + 3,
    })
    expect(runs[1]).toMatchObject({ outcome: '500', from: 5, count: 1 })
  })

  it('The excerpt is bounded, and never ends within a character', () => {
    const [run] = gather([{ ...status(500), excerpt: `${'x'.repeat(RUN_EXCERPT_LENGTH_MAX - 1)}😀` }])
    expect(run?.excerpt).toBe('x'.repeat(RUN_EXCERPT_LENGTH_MAX - 1))
  })

  it('However an op was answered, its runs have every attempt once and in order', () => {
    const answers = fc.array(fc.constantFrom(status(500), status(502), { result: 'ongoing' } as const), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(answers, (given) => {
        const runs = gather(given)
        expect(runs.length).toBeLessThanOrEqual(ATTEMPT_RUNS_MAX)
        expect(runs.reduce((sum, { count }) => sum + count, 0)).toBe(given.length)
        runs.forEach(({ from, count, firstAt, lastAt }, i) => {
          expect(firstAt).toBe(CREATED_AT + from - 1)
          expect(lastAt).toBe(firstAt + count - 1)
          expect(runs[i + 1]?.from ?? given.length + 1).toBe(from + count)
        })
      }),
    )
  })
})

describe('the runs of an op', () => {
  const run = (results: readonly ('success' | 'unknown' | 'ongoing')[]) => {
    let saga = serial(1)
    results.forEach((result, i) => {
      saga = asSaga(transition(saga, sent([0, 'action']), CREATED_AT).next)
      saga = asSaga(transition(saga, answered(0, 'action', result, { attempt: i + 1 }), CREATED_AT).next)
    })
    return saga.branches[0]?.action
  }

  it('An op that succeeded at once has none', () => {
    expect(run(['success'])).not.toHaveProperty('runs')
  })

  it('A success keeps the runs before it, and makes none', () => {
    expect(run(['unknown', 'unknown', 'ongoing', 'success'])?.runs).toMatchObject([
      { outcome: 'timeout', from: 1, count: 2 },
      { outcome: '425', from: 3, count: 1 },
    ])
  })
})
