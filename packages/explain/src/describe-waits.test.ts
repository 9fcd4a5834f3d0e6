import type { OpView, PlanView, TransactionView } from '@counterstep/protocol'
import { expect, it } from 'vitest'
import { describeWaits } from './describe-waits.ts'

const PLAN: PlanView = {
  ...{ planId: 'p', exact: true, asOf: 0, steps: [], cannotUndo: [], ends: 'failed', needs: [] },
  waitsFor: ['bank-a'],
}

function view(last: Partial<OpView>): TransactionView {
  const op: OpView = { op: 'action', state: 'waiting', attempts: 2, result: 'unknown', ...last }
  return {
    ...{ gid: 'g', kind: 'saga', status: 'submitted', createdAt: 0, updatedAt: 0, epoch: 1 },
    branches: [{ id: 'a', after: [], ops: [op] }],
  }
}

for (const [what, last, words] of [
  ['a status code', { service: 'bank-a', statusCode: 404 }, 'whose last answer was 404'],
  ['an error word', { service: 'bank-a', error: 'refused' }, 'which refuses connections'],
  [
    'another service',
    { service: 'mail', statusCode: 500 },
    'which gave no usable answer to the last attempt',
  ],
] as const) {
  it(`Whom a command will wait for is told after ${what}`, () =>
    expect(describeWaits(PLAN, view(last))).toBe(`It will wait for bank-a, ${words}.`))
}

it('Several are named, and no sentence is made of none', () => {
  expect(
    describeWaits({ ...PLAN, waitsFor: ['bank-a', 'mail'] }, view({ url: 'mail:/x', statusCode: 404 })),
  ).toBe(
    'It will wait for bank-a, which gave no usable answer to the last attempt; and for mail, whose last answer was 404.',
  )
  expect(describeWaits({ ...PLAN, waitsFor: [] }, undefined)).toBeUndefined()
})
