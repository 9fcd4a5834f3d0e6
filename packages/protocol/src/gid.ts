import { BRANCH_ID_LENGTH_MAX, GID_LENGTH_MAX } from './limits.ts'

declare const brand: unique symbol
/** A global transaction id: 1–128 printable ASCII characters without space, quote, backslash or semicolon; not `.` or `..`. */
export type Gid = string & { readonly [brand]: 'gid' }
/** A branch's id within its transaction: 1–64 characters of `A-Z a-z 0-9 . _ : -`. */
export type BranchId = string & { readonly [brand]: 'branchId' }

/** What isGid asks for, in words. */
export const GID_RULE =
  'must be 1–128 printable ASCII characters without space, quote, backslash or semicolon, and not . or ..'

// '!' to '~' without the double quote, the single quote, the semicolon and the backslash.
const GID = /^[!#-&(-:<-[\]-~]+$/
const BRANCH_ID = /^[A-Za-z0-9._:-]+$/

export function isGid(value: unknown): value is Gid {
  return (
    typeof value === 'string' &&
    value.length >= 1 &&
    value.length <= GID_LENGTH_MAX &&
    GID.test(value) &&
    value !== '.' &&
    value !== '..'
  )
}

export function isBranchId(value: unknown): value is BranchId {
  return (
    typeof value === 'string' &&
    value.length >= 1 &&
    value.length <= BRANCH_ID_LENGTH_MAX &&
    BRANCH_ID.test(value)
  )
}
