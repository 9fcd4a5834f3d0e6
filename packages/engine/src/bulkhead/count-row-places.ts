import { countKeptBytes, countSignalBytes, type StoredTransaction, type Transaction } from '@counterstep/core'

/** A larger transaction takes several places, so that the number of places bounds the memory of this node as well. */
const CHARACTERS_PER_PLACE = 32 * 1024

/** Counts the places that a transaction takes: one, or more if its definition and its progress are long. */
export function countRowPlaces({
  definition,
  progress,
}: Pick<StoredTransaction, 'definition' | 'progress'>): number {
  return Math.max(1, Math.ceil((definition.length + progress.length) / CHARACTERS_PER_PLACE))
}

/** Counts the places for the values of answers and for the signals that a saga keeps now. Its row grows by them. */
export function countValuePlaces(transaction: Transaction): number {
  if (transaction.kind !== 'saga') return 0
  const { definition, branches, signals } = transaction
  if (definition.values === undefined && signals === undefined) return 0
  return Math.ceil(
    (countKeptBytes(branches) + (signals === undefined ? 0 : countSignalBytes(signals))) /
      CHARACTERS_PER_PLACE,
  )
}
