import { BRANCH_ID_LENGTH_MAX, GID_LENGTH_MAX } from './limits.ts'

declare const brand: unique symbol
/**
 * A gid is a global transaction id. It has 1 to 128 printable ASCII characters without space, quote, backslash or
 * semicolon, and is not `.` or `..`.
 */
export type Gid = string & { readonly [brand]: 'gid' }
/** A branch id is unique within its transaction and has 1 to 64 characters of `A-Z a-z 0-9 . _ : -`. It is not `.` or `..`. */
export type BranchId = string & { readonly [brand]: 'branchId' }

/** This text says in words what isGid checks. */
export const GID_RULE =
  'must be 1–128 printable ASCII characters without space, quote, backslash or semicolon, and not . or ..'

/** This text says in words what isBranchId checks. */
export const BRANCH_ID_RULE = 'must be 1–64 characters of A-Z a-z 0-9 . _ : -, and not . or ..'

// The class is '!' to '~' without the double quote, the single quote, the semicolon and the backslash.
const GID = /^[!#-&(-:<-[\]-~]+$/
const BRANCH_ID = /^[A-Za-z0-9._:-]+$/

export function isGid(value: unknown): value is Gid {
  return (
    typeof value === 'string' &&
    value.length >= 1 &&
    value.length <= GID_LENGTH_MAX &&
    GID.test(value) &&
    !isStepOfDots(value)
  )
}

export function isBranchId(value: unknown): value is BranchId {
  return (
    typeof value === 'string' &&
    value.length >= 1 &&
    value.length <= BRANCH_ID_LENGTH_MAX &&
    BRANCH_ID.test(value) &&
    !isStepOfDots(value)
  )
}

/** An id stands in the path of requests, from which clients remove such a step. */
function isStepOfDots(text: string): boolean {
  return text === '.' || text === '..'
}

/**
 * Makes a UUID of version 7 (RFC 9562, 5.7), which begins with the time, so that indexes grow at their end. `random`
 * has at least 19 random hex digits in lower case.
 */
export function createTimeOrderedGid(nowMs: number, random: string): Gid {
  const time = nowMs.toString(16).padStart(12, '0')
  const variant = ((Number.parseInt(random.charAt(3), 16) & 3) | 8).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}` as Gid
}
