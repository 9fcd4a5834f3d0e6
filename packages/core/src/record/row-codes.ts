/** The numbers by which stores keep words. Data that lies in stores holds them: never renumber, only add. */
import type { Kind, Status } from '@counterstep/protocol'
import type { SentList } from '../ports/store.ts'

// The stores' statements and scripts leave rows of other codes alone: a new one goes there too.
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

/** Of a code as a number or as its decimal digits. Undefined: a code of a later version. */
export function kindOfCode(code: unknown): Kind | undefined {
  return KIND_WORDS.get(code)
}

export function statusOfCode(code: unknown): Status | undefined {
  return STATUS_WORDS.get(code)
}

export function sentListOfCode(code: unknown): SentList | undefined {
  return SENT_LIST_WORDS.get(code)
}

function wordsOf<Word extends string>(codes: Readonly<Record<Word, number>>): ReadonlyMap<unknown, Word> {
  const words = new Map<unknown, Word>()
  for (const word of Object.keys(codes) as Word[]) words.set(codes[word], word).set(String(codes[word]), word)
  return words
}
