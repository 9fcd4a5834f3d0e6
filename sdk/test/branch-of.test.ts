import { branchOf, type Saga, saga, type TypedBranch } from '@counterstep/sdk'
import { expect, expectTypeOf, it } from 'vitest'

interface Payment {
  readonly account: string
  readonly cents: number
}

const debit = branchOf<Payment>({
  action: 'http://bank/debit',
  compensation: 'http://bank/debit/undo',
  timeoutMs: 5_000,
})

it('The function branchOf makes branches of one service with its payload, and options of their own', () => {
  const value = saga()
    .add(debit('first', { account: 'alice', cents: 1 }))
    .add(debit('second', { account: 'bob', cents: 2 }, { timeoutMs: 100 }))
  expect(value.request.branches).toEqual([
    {
      id: 'first',
      action: 'http://bank/debit',
      compensation: 'http://bank/debit/undo',
      timeoutMs: 5_000,
      payload: { account: 'alice', cents: 1 },
      after: [],
    },
    {
      id: 'second',
      action: 'http://bank/debit',
      compensation: 'http://bank/debit/undo',
      timeoutMs: 100,
      payload: { account: 'bob', cents: 2 },
      after: ['first'],
    },
  ])
  expectTypeOf(value).toEqualTypeOf<Saga<'first' | 'second'>>()
})

it('A typed branch takes no other payload', () => {
  expectTypeOf(debit).toEqualTypeOf<TypedBranch<Payment>>()
  expectTypeOf(debit).parameter(1).toEqualTypeOf<Payment>()
  // @ts-expect-error: no such field, and one is missing.
  const wrong = debit('x', { account: 'alice', amount: 1 })
  expect(wrong.ids).toEqual(['x'])
})
