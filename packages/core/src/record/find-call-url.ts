import type { CallKey } from '../rules/events.ts'
import type { Transaction } from '../transaction.ts'
import { findEdit } from './edits.ts'
import { findUrl } from './find-url.ts'

/** Finds the URL at which a call is made: the edited one, or else the submitted one. Undefined or empty: nothing is called. */
export function findCallUrl(transaction: Transaction, call: CallKey): string | undefined {
  return findEdit(transaction, call)?.url ?? findUrl(transaction, call)
}
