import type { TransactionView } from '@counterstep/protocol'
import { expect, it } from 'vitest'
import { BranchCalls } from '../src/hostile/branch-calls.ts'
import { type HostileCase, hostileCases, type Role } from '../src/hostile/hostile-case.ts'
import { judgeTheEnd, judgeWhileHostile } from '../src/hostile/judge-case.ts'

const URL_OF_IT = 'http://branch/hangs'

function findCase(role: Role, meaning: 'again' | 'failure' = 'again'): HostileCase {
  const found = hostileCases({ name: 'hangs', meaning, url: URL_OF_IT, getsWell: true }).find(
    (each) => each.role === role,
  )
  if (found === undefined) throw new Error(`no case of ${role}`)
  return found
}

function makeView({ gid, op }: HostileCase, more: Partial<TransactionView>): TransactionView {
  const times = { createdAt: 0, updatedAt: 0, epoch: 1 }
  const shown = { op, url: URL_OF_IT, state: 'waiting', attempts: 2, result: 'unknown' } as const
  return {
    gid,
    kind: 'saga',
    status: 'submitted',
    ...times,
    branches: [{ id: '01', after: [], ops: [shown] }],
    ...more,
  }
}

it('The judge of hostile branches accepts a saga that asks again and then succeeds', () => {
  const action = findCase('action')
  expect(judgeWhileHostile(action, makeView(action, {}))).toEqual([])
  expect(judgeTheEnd(action, makeView(action, { status: 'succeeded' }), new BranchCalls())).toEqual([])
})

it('The judge of hostile branches finds a saga that was turned around by what is no refusal', () => {
  const action = findCase('action')
  const turned = makeView(action, { status: 'aborting', abort: { cause: 'branch-failed', at: 1 } })
  expect(judgeWhileHostile(action, turned)).toEqual(['action:hangs is aborting instead of submitted'])
  expect(judgeTheEnd(action, { ...turned, status: 'failed' }, new BranchCalls())).toHaveLength(2)
})

it('The judge of hostile branches finds a compensation that was given up, and one that refused without attention', () => {
  const given = findCase('compensation')
  expect(judgeWhileHostile(given, makeView(given, { status: 'failed' }))).toHaveLength(1)
  const refused = findCase('compensation', 'failure')
  const ops = [
    { op: 'compensate', url: URL_OF_IT, state: 'waiting', attempts: 2, result: 'failure' } as const,
  ]
  const silent = makeView(refused, { status: 'aborting', branches: [{ id: '01', after: [], ops }] })
  expect(judgeWhileHostile(refused, silent)).toHaveLength(1)
  expect(judgeWhileHostile(refused, { ...silent, attention: 'refused' })).toEqual([])
})
