import {
  type CommandOptions,
  createOperator,
  type EditOptions,
  type ListFilter,
  type Operator,
  type PlanView,
  type SkipOptions,
} from '@counterstep/sdk/operator'
import { expect, expectTypeOf, it } from 'vitest'

const operator: Operator = createOperator({ url: 'http://127.0.0.1:1' })

/** The compiler checks what is in the callback, which never runs. */
function refuse(misuse: () => unknown): void {
  expect(misuse).toBeTypeOf('function')
}

it('A stop, a skip and an edit are not given without a reason', () => {
  refuse(() => [
    // @ts-expect-error A stop needs a reason.
    operator.stop('a', {}),
    // @ts-expect-error A skip needs to know who has done it.
    operator.skip('a', { branchId: 'b', op: 'action' }, { reason: 'r' }),
    // @ts-expect-error There is no such op.
    operator.skip('a', { branchId: 'b', op: 'undo' }, { reason: 'r', doneBy: 'hand' }),
    // @ts-expect-error An edit needs a reason.
    operator.edit('a', { branchId: 'b', op: 'action' }, { url: 'http://x' }),
    // @ts-expect-error A confirmation has one wording.
    operator.edit('a', { branchId: 'b', op: 'action' }, { reason: 'r', confirm: 'yes' }),
  ])
  expectTypeOf<SkipOptions['doneBy']>().toEqualTypeOf<'service' | 'hand'>()
  expectTypeOf<EditOptions['reason']>().toEqualTypeOf<string>()
  expectTypeOf<CommandOptions['reason']>().toEqualTypeOf<string | undefined>()
})

it('A filter and a plan have the types of the wire', () => {
  expectTypeOf<ListFilter['order']>().toEqualTypeOf<'created' | 'due' | '-due' | undefined>()
  expectTypeOf<ListFilter['tags']>().toEqualTypeOf<Readonly<Record<string, string>> | undefined>()
  expectTypeOf<Awaited<ReturnType<Operator['preview']>>>().toEqualTypeOf<PlanView>()
})
