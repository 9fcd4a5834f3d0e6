import { NAME_LENGTH_MAX, TAG_KEY_LENGTH_MAX, TAG_VALUE_LENGTH_MAX } from './operator-words.ts'

// These texts say in words what the functions below them check.
export const NAME_RULE = `must be 1–${NAME_LENGTH_MAX} characters of A-Z a-z 0-9 . _ : / -`
export const TAG_KEY_RULE = `must be 1–${TAG_KEY_LENGTH_MAX} characters of a-z 0-9 _ . - and begin with a letter`
export const TAG_VALUE_RULE = `must be 1–${TAG_VALUE_LENGTH_MAX} visible ASCII characters`

const NAME = /^[A-Za-z0-9._:/-]+$/
const TAG_KEY = /^[a-z][a-z0-9_.-]*$/
/** Matches '!' to '~'. */
const TAG_VALUE = /^[!-~]+$/

/** Whether a transaction may have this name. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= NAME_LENGTH_MAX && NAME.test(value)
}

export function isTagKey(value: string): boolean {
  return value.length <= TAG_KEY_LENGTH_MAX && TAG_KEY.test(value)
}

export function isTagValue(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TAG_VALUE_LENGTH_MAX && TAG_VALUE.test(value)
}
