import { describe, expect, it } from 'vitest'
import {
  ABORT,
  answering,
  buildTcc,
  buildXa,
  effectsAsText,
  folded,
  STOP,
  SUBMIT,
  sending,
  TCC_DEADLINE_MS,
  TIME,
  tccBranchAt,
  xaBranchAt,
} from '../../test/prepared.ts'
import { CREATED_AT } from '../../test/sagas.ts'
import { findRefusal } from '../commands/refuse-command.ts'
import { viewTransaction } from '../record/view.ts'
import type { XaOp, XaTransaction } from '../transaction.ts'
import { RULES } from './rules.ts'

const prepared = buildXa(2)

/** Lists the calls of a decision, each of which succeeds. */
function listCalls(decided: XaTransaction, op: XaOp): readonly string[] {
  const calls: string[] = []
  let next = decided
  for (let branch = 0; 'finishedAt' in next === false && branch < decided.branches.length; branch++) {
    calls.push(effectsAsText(RULES.effects(next, CREATED_AT)))
    next = folded(next, [sending([branch, op]), answering(branch, op, 'success')])
  }
  return [...calls, next.status]
}

describe('XA', () => {
  it('It is committed in the order in which its branches were registered', () => {
    expect(listCalls(folded(prepared, [SUBMIT]), 'commit')).toEqual([
      'call 01 commit',
      'call 02 commit',
      'succeeded',
    ])
  })

  it('It is rolled back in the same order, by an abort and by its deadline', () => {
    const rolledBack = ['call 01 rollback', 'call 02 rollback', 'failed']
    expect(listCalls(folded(prepared, [ABORT]), 'rollback')).toEqual(rolledBack)
    const late = folded(prepared, [TIME], CREATED_AT + TCC_DEADLINE_MS)
    expect(late).toMatchObject({ status: 'aborting', abort: { cause: 'deadline' } })
    expect(listCalls(late, 'rollback')).toEqual(rolledBack)
  })

  it('It waits for its client until the deadline', () => {
    expect(effectsAsText(RULES.effects(prepared, CREATED_AT))).toBe(`wake +${TCC_DEADLINE_MS}`)
  })

  it('Without a branch it ends with the decision', () => {
    expect(folded(buildXa(0), [SUBMIT]).status).toBe('succeeded')
    expect(folded(buildXa(0), [ABORT, TIME]).status).toBe('failed')
  })

  it.each(['failure', 'unknown', 'ongoing'] as const)(
    'A commit that is answered with %s is made again, and the next branch waits',
    (result) => {
      const asked = folded(prepared, [SUBMIT, sending([0, 'commit']), answering(0, 'commit', result)])
      expect(asked.status).toBe('submitted')
      expect(effectsAsText(RULES.effects(asked, CREATED_AT))).toMatch(/^wake/)
      const { nextAt = 0 } = asked.branches[0]?.commit ?? {}
      expect(effectsAsText(RULES.effects(asked, nextAt))).toBe('call 01 commit')
    },
  )

  it('A branch is registered once, only while it is prepared, and only one of its own kind', () => {
    const register = (position: number) => ({ type: 'register-asked', branch: xaBranchAt(position) }) as const
    expect(folded(prepared, [register(2), register(2)]).registered.map(({ id }) => id)).toEqual([
      '01',
      '02',
      '03',
    ])
    expect(findRefusal(folded(prepared, [SUBMIT]), register(2), CREATED_AT)).toBe('not-prepared')
    expect(findRefusal(buildTcc(1), register(2), CREATED_AT)).toBe('wrong-kind')
    expect(findRefusal(prepared, { type: 'register-asked', branch: tccBranchAt(2) }, CREATED_AT)).toBe(
      'wrong-kind',
    )
    const other = { ...xaBranchAt(0), url: 'http://bank.test/other' }
    expect(findRefusal(prepared, { type: 'register-asked', branch: other }, CREATED_AT)).toBe('branch-exists')
  })

  it('What was decided first counts', () => {
    expect(folded(prepared, [SUBMIT, ABORT]).status).toBe('submitted')
    expect(folded(prepared, [ABORT, SUBMIT]).status).toBe('aborting')
    expect(folded(prepared, [SUBMIT, STOP]).status).toBe('stopped')
  })

  it('Its view names the ops, their one URL and what each branch waits for', () => {
    const { branches } = viewTransaction(folded(prepared, [SUBMIT]), 'submitted')
    expect(branches).toMatchObject([
      { id: '01', after: [], ops: [{ op: 'commit', url: 'http://bank.test/01' }, { op: 'rollback' }] },
      { id: '02', after: ['01'], ops: [{ op: 'commit' }, { op: 'rollback' }] },
    ])
  })
})
