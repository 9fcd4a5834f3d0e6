/** Commands of an operator, for tests. */
import type { Op } from '@counterstep/protocol'
import type { Given, GivenCommand } from '../src/rules/events.ts'
import type { Edit } from '../src/transaction.ts'

export function givenAs(id: string, change: Partial<Given> = {}): Given {
  return { id, by: { via: 'api', key: { id: 'k1', name: 'ops' } }, ...change }
}

export const pause = (id = 'pause', until?: number): GivenCommand => ({
  type: 'pause-asked',
  given: givenAs(id),
  ...(until === undefined ? {} : { until }),
})

export const resume = (id = 'resume'): GivenCommand => ({ type: 'resume-asked', given: givenAs(id) })

export const retry = (id = 'retry', change: Partial<Given> = {}): GivenCommand => ({
  type: 'retry-asked',
  given: givenAs(id, change),
})

export const retryOp = (branchId: string, op: Op, id = 'retry-op'): GivenCommand => ({
  type: 'retry-op-asked',
  branchId,
  op,
  given: givenAs(id),
})

export const abort = (id = 'abort'): GivenCommand => ({ type: 'abort-asked', given: givenAs(id) })
export const submit = (id = 'submit'): GivenCommand => ({ type: 'submit-asked', given: givenAs(id) })
export const stop = (id = 'stop'): GivenCommand => ({ type: 'stop-asked', given: givenAs(id) })

export const skip = (
  branchId: string,
  op: Op,
  doneBy: 'service' | 'hand' = 'service',
  change: Partial<Given> & { readonly answer?: string } = {},
): GivenCommand => {
  const { answer, ...given } = change
  return {
    type: 'skip-asked',
    branchId,
    op,
    doneBy,
    given: givenAs(`skip-${branchId}-${op}`, given),
    ...(answer === undefined ? {} : { answer }),
  }
}

export const edit = (
  branchId: string,
  op: Op,
  fields: Omit<Edit, 'branch' | 'op'>,
  change: Partial<Given> = {},
): GivenCommand => ({
  type: 'edit-asked',
  branchId,
  op,
  edit: fields,
  given: givenAs(`edit-${branchId}-${op}`, change),
})
