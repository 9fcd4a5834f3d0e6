import { branch, createClient, type SagaBranchRequest, saga, type TccBranch } from '@counterstep/sdk'
import { expect, it } from 'vitest'

interface Payment {
  readonly account: string
  readonly cents: number
  readonly parts?: readonly Payment[]
}
const payment: Payment = { account: 'alice', cents: 1_250, parts: [{ account: 'bob', cents: 50 }] }
const action = 'http://bank/debit'

it('A payload may be of an interface, alone and inside of JSON', () => {
  const transfer = saga()
    .branch('one', { action, payload: payment })
    .add(branch('two', { action, payload: [payment, 'text', null] }))
    .branch('three', { action, payload: { payment, count: 1 } })
  expect(transfer.request.branches.map((each) => ('payload' in each ? each.payload : undefined))).toEqual([
    payment,
    [payment, 'text', null],
    { payment, count: 1 },
  ])
  const client = createClient({ url: 'http://127.0.0.1:1' })
  expect(client.message({ branches: [{ action, payload: payment }] }).request.branches).toHaveLength(1)
  const tried: TccBranch = { try: action, confirm: action, cancel: action, payload: payment }
  expect(tried.payload).toBe(payment)
})

it('A payload that is never JSON is refused by its type', () => {
  const wrong: readonly SagaBranchRequest[] = [
    // @ts-expect-error JSON has no functions.
    { action, payload: () => payment },
    // @ts-expect-error JSON has no integers of that kind.
    { action, payload: 1n },
    // @ts-expect-error JSON has no symbols.
    { action, payload: Symbol('payment') },
  ]
  expect(wrong).toHaveLength(3)
})
