import {
  type CallKey,
  countBuiltBytes,
  countEntryBytes,
  countJournalBytes,
  countKeptBytes,
  countSignalBytes,
  type StoredTransaction,
  type Transaction,
} from '@counterstep/core'

/** A larger transaction takes several places, so that the number of places bounds the memory of this node as well. */
const CHARACTERS_PER_PLACE = 32 * 1024
/** A shorter text is within its place, however wide it is. */
const SURELY_ONE_PLACE = CHARACTERS_PER_PLACE / 4
/** V8 keeps a text with one such sign in two bytes for each of its characters. */
const WIDE_SIGN = /[\u0100-\uffff]/

/** Counts the places that a transaction takes: one, or more if its definition and its progress are long. */
export function countRowPlaces({
  definition,
  progress,
}: Pick<StoredTransaction, 'definition' | 'progress'>): number {
  return Math.max(
    1,
    Math.ceil((countCharacters(definition) + countCharacters(progress)) / CHARACTERS_PER_PLACE),
  )
}

/**
 * Counts the places for a text: the answer of a plan call, or the progress as it is written, which may outgrow its definition
 * with long answers of each attempt.
 */
export function countTextPlaces(text: string): number {
  return Math.ceil(countCharacters(text) / CHARACTERS_PER_PLACE)
}

/** Counts each character of a wide text twice. */
function countCharacters(text: string): number {
  return text.length > SURELY_ONE_PLACE && WIDE_SIGN.test(text) ? 2 * text.length : text.length
}

/** Counts the places for the values of answers and for the signals that a saga keeps now. Its row grows by them. */
export function countValuePlaces(transaction: Transaction): number {
  if (transaction.kind === 'workflow') {
    const { signals = [] } = transaction
    return Math.ceil((countEntryBytes(transaction) + countSignalBytes(signals)) / CHARACTERS_PER_PLACE)
  }
  if (transaction.kind !== 'saga') return 0
  const { definition, branches, signals } = transaction
  if (definition.values === undefined && signals === undefined) return 0
  return Math.ceil(
    (countKeptBytes(branches) + (signals === undefined ? 0 : countSignalBytes(signals))) /
      CHARACTERS_PER_PLACE,
  )
}

/**
 * Counts the bytes of a request that are built from values for this call, and are in memory as long as it waits and is
 * under way. All other requests are parts of the definition, which is counted already.
 */
export function countCallBytes(transaction: Transaction, { branch, op }: CallKey): number {
  if (op === 'plan' && transaction.kind === 'workflow') return countJournalBytes(transaction)
  if (transaction.kind !== 'saga' || transaction.definition.values === undefined) return 0
  return op === 'action' || op === 'compensate' ? countBuiltBytes(transaction, branch, op) : 0
}

/** Counts the whole places that so many bytes of built requests take. The rest has room in the transaction's own place. */
export function countBytePlaces(bytes: number): number {
  return Math.floor(bytes / CHARACTERS_PER_PLACE)
}
