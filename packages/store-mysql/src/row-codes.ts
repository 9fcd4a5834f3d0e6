import type { SentList } from '@counterstep/core'
import type { Kind, Status } from '@counterstep/protocol'

// These numbers are in the tables: never renumber, only add.
export const KIND_CODES: Readonly<Record<Kind, number>> = { saga: 0, tcc: 1, message: 2 }
export const STATUS_CODES: Readonly<Record<Status, number>> = {
  prepared: 0,
  submitted: 1,
  aborting: 2,
  succeeded: 3,
  failed: 4,
  stopped: 5,
}
export const SENT_LIST_CODES: Readonly<Record<SentList, number>> = { unknown: 0, held: 1, released: 2 }

const KIND_WORDS = wordsOf(KIND_CODES)
const STATUS_WORDS = wordsOf(STATUS_CODES)
const SENT_LIST_WORDS = wordsOf(SENT_LIST_CODES)

/** Undefined: a code of a later version. */
export function kindOf(code: unknown): Kind | undefined {
  return KIND_WORDS.get(code)
}

export function statusOf(code: unknown): Status | undefined {
  return STATUS_WORDS.get(code)
}

export function sentListOf(code: unknown): SentList | undefined {
  return SENT_LIST_WORDS.get(code)
}

function wordsOf<Word extends string>(codes: Readonly<Record<Word, number>>): ReadonlyMap<unknown, Word> {
  return new Map((Object.keys(codes) as Word[]).map((word) => [codes[word], word]))
}
