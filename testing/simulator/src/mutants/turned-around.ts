import type { SagaTransaction, Transaction } from '@counterstep/core'

type Aborting = Extract<SagaTransaction, { readonly status: 'aborting' }>

/** Tells whether a saga went forward before an event and goes backward after it, so that the event decided its abort. */
export function hasTurnedAround(before: Transaction, next: Transaction): next is Aborting {
  return before.status === 'submitted' && next.kind === 'saga' && next.status === 'aborting'
}
