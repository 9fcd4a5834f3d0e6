/**
 * The numbers that stores keep in place of these words. Existing data has
 * them, so a number is never changed, only added.
 */
import type { Kind, Status } from '@counterstep/protocol'
import { MARKS, type Mark, type SentList } from '../ports/store.ts'

// The stores' statements and scripts leave rows of other codes alone, so a new code must be added there too.
export const KIND_CODES: Readonly<Record<Kind, number>> = {
  saga: 0,
  tcc: 1,
  message: 2,
  workflow: 3,
  xa: 4,
  recorded: 5,
}
export const STATUS_CODES: Readonly<Record<Status, number>> = {
  prepared: 0,
  submitted: 1,
  aborting: 2,
  succeeded: 3,
  failed: 4,
  stopped: 5,
}
export const SENT_LIST_CODES: Readonly<Record<SentList, number>> = { unknown: 0, held: 1, released: 2 }
/** The marks of a row are one number, in which each mark has one of these bits. */
export const MARK_BITS: Readonly<Record<Mark, number>> = { paused: 1, 'by-hand': 2, edited: 4 }

const KIND_WORDS = indexByCode(KIND_CODES)
const STATUS_WORDS = indexByCode(STATUS_CODES)
const SENT_LIST_WORDS = indexByCode(SENT_LIST_CODES)

/** Finds the kind of a code, which is a number or its decimal digits. Undefined: a later version wrote the code. */
export function toKind(code: unknown): Kind | undefined {
  return KIND_WORDS.get(code)
}

export function toStatus(code: unknown): Status | undefined {
  return STATUS_WORDS.get(code)
}

export function toSentList(code: unknown): SentList | undefined {
  return SENT_LIST_WORDS.get(code)
}

export function toMarkBits(marks: readonly Mark[] | undefined): number {
  if (marks === undefined) return 0
  return marks.reduce((bits, mark) => bits | MARK_BITS[mark], 0)
}

/** Leaves out bits that only a later version knows. Undefined: the row has no mark. */
export function toMarks(bits: number): readonly Mark[] | undefined {
  const marks = MARKS.filter((mark) => (bits & MARK_BITS[mark]) !== 0)
  return marks.length === 0 ? undefined : marks
}

function indexByCode<Word extends string>(codes: Readonly<Record<Word, number>>): ReadonlyMap<unknown, Word> {
  const words = new Map<unknown, Word>()
  for (const word of Object.keys(codes) as Word[]) words.set(codes[word], word).set(String(codes[word]), word)
  return words
}
