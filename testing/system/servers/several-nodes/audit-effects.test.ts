import type { Op } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { auditEffects } from './audit-effects.ts'
import { BranchLedger } from './branch-ledger.ts'

type Commit = readonly [branchId: string, op: Op]

const DONE: readonly Commit[] = [
  ['01', 'action'],
  ['02', 'action'],
]

function audit(status: 'succeeded' | 'failed' | 'aborting', commits: readonly Commit[]): string[] {
  const ledger = new BranchLedger()
  for (const [branchId, op] of commits) ledger.commit('g', branchId, op)
  return auditEffects(ledger, { gid: 'g', status, branches: [{ id: '01' }, { id: '02' }] })
}

/** An auditor that finds nothing proves nothing. */
describe('the audit of effects', () => {
  it('The audit of effects accepts a success, an undone failure, and compensations that came first', () => {
    expect(audit('succeeded', [...DONE, ['02', 'action']])).toEqual([])
    expect(audit('failed', [...DONE, ['02', 'compensate'], ['01', 'compensate']])).toEqual([])
    expect(
      audit('failed', [
        ['01', 'action'],
        ['02', 'compensate'],
        ['02', 'action'],
        ['01', 'compensate'],
      ]),
    ).toEqual([])
  })

  it('The audit of effects finds what is missing, undone too much, out of order, or not final', () => {
    expect(audit('succeeded', [['01', 'action']])).toEqual([
      'g succeeded: 02 has 0 action effects, 0 compensations',
    ])
    expect(audit('succeeded', [...DONE, ['02', 'compensate']])).toHaveLength(1)
    expect(audit('failed', [...DONE, ['02', 'compensate']])).toHaveLength(1)
    expect(audit('succeeded', DONE.toReversed())).toEqual(['g succeeded: actions are out of order'])
    expect(audit('failed', [...DONE, ['01', 'compensate'], ['02', 'compensate']])).toEqual([
      'g failed: compensations are not in reverse order',
    ])
    expect(audit('aborting', DONE)).toHaveLength(2)
  })
})
