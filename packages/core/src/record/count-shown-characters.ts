import { findOp, listCalls } from '../rules/op-progress.ts'
import type { OpProgress, Transaction } from '../transaction.ts'

/** Each of the texts is shown with names, instants and counts of about this length. */
const BESIDE_CHARACTERS = 100
/** A quotation mark in an answer is two characters in the JSON that is sent. */
const ESCAPED_FACTOR = 2

/**
 * Counts the characters that branches and callers have added to what a view shows. They may make the view of a few
 * branches a hundred times as long as it was at first.
 */
export function countShownCharacters(transaction: Transaction): number {
  const { trail = [] } = transaction
  const { signals = [] } = 'signals' in transaction ? transaction : {}
  const ops = listCalls(transaction).map((call) => countAnswers(findOp(transaction, call)))
  const entries = trail.map(({ reason = '' }) => BESIDE_CHARACTERS + reason.length)
  const received = signals.map(({ name, id }) => BESIDE_CHARACTERS + name.length + id.length)
  return [...ops, ...entries, ...received].reduce((sum, characters) => sum + characters, 0)
}

function countAnswers({ answer = '', runs = [] }: Partial<OpProgress> = {}): number {
  return runs.reduce(
    (sum, { excerpt = '' }) => sum + BESIDE_CHARACTERS + excerpt.length * ESCAPED_FACTOR,
    answer.length * ESCAPED_FACTOR,
  )
}
