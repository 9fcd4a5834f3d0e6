import {
  assert,
  decodeTags,
  encodeTags,
  type NewTransaction,
  type StoredTransaction,
  type TransactionUpdate,
  toMarkBits,
  toMarks,
} from '@counterstep/core'

/** A text that is absent. No encoded text is this one. */
const NO_WORD = '%'
/** These characters would end a word or a line, or be taken for an encoded one. */
const SPECIALS = /[%\s\p{Cc}]/gu
/** The scripts read the first 6 KiB of a row to find its head, so that its words together stay below. */
const NAMES_BYTES_MAX = 2_700
const PROBLEM_BYTES_MAX = 2_400

export type MoreWords = Pick<StoredTransaction, 'name' | 'tags' | 'problem' | 'attempts' | 'marks'>

/** Writes the words that a new row of layout 2 has behind its digest, or nothing for a row of layout 1. */
export function encodeNames({ name, tags }: Pick<NewTransaction, 'name' | 'tags'>): string {
  if (name === undefined && tags === undefined) return ''
  const words = `${encodeText(name)} ${encodeText(encodeTags(tags))}`
  if (words === `${NO_WORD} ${NO_WORD}`) return ''
  assert(Buffer.byteLength(words) <= NAMES_BYTES_MAX, 'a name and tags that are too long for a row')
  return ` 0 0 ${words} ${NO_WORD}`
}

/** Writes a tag as the word that the members of the index of the tags begin with. */
export function encodeTag(tag: string): string {
  return encodeText(tag)
}

/** Writes what a row waits for as words of an update, or nothing. */
export function encodeTrouble({
  problem,
  attempts = 0,
  marks,
}: Pick<TransactionUpdate, 'problem' | 'attempts' | 'marks'>): string {
  const bits = marks === undefined ? 0 : toMarkBits(marks)
  if (problem === undefined && attempts === 0 && bits === 0) return ''
  assert(Number.isSafeInteger(attempts) && attempts >= 0, 'a row with something else where attempts must be')
  return ` ${attempts} ${bits} ${encodeProblem(problem)}`
}

function encodeProblem(problem: string | undefined): string {
  const word = encodeText(problem)
  assert(Buffer.byteLength(word) <= PROBLEM_BYTES_MAX, 'a problem that is too long for a row')
  return word
}

/** Decodes the five words that a head of layout 2 has behind its digest. */
export function decodeMore([attempts, marks, name, tags, problem]: readonly string[]): MoreWords {
  const [nameText, tagsText, problemText] = [decodeText(name), decodeText(tags), decodeText(problem)]
  const tagsFound = tagsText === undefined ? undefined : decodeTags(tagsText)
  const marksFound = toMarks(Number(marks))
  return {
    ...(nameText !== undefined && { name: nameText }),
    ...(tagsFound !== undefined && { tags: tagsFound }),
    ...(problemText !== undefined && { problem: problemText }),
    ...(Number(attempts) > 0 && { attempts: Number(attempts) }),
    ...(marksFound !== undefined && { marks: marksFound }),
  }
}

function encodeText(value: string | null | undefined): string {
  return value ? value.replace(SPECIALS, encodeURIComponent) : NO_WORD
}

export function decodeText(word: string | undefined): string | undefined {
  if (word === undefined || word === NO_WORD) return undefined
  return word.includes('%') ? decodeURIComponent(word) : word
}
