/** The input of one workflow, and of the saga or the handler beside it. */
export interface Transfer {
  /** A text by which the callers tell their transfers apart. */
  readonly transfer: string
  readonly steps: number
}

/** One step of a transfer, which changes one account. */
export interface Move {
  readonly transfer: string
  /** It counts from 1. */
  readonly number: number
}

export const MOVE_SQL = 'UPDATE account SET cents = cents + $1, moves = moves + 1 WHERE id = $2'

const HASH_FACTOR = 31

/** Odd steps take a cent, and even ones give it. */
export function toCents(number: number): number {
  return number % 2 === 1 ? -1 : 1
}

/** Chooses one of the accounts, so that few transfers at a time want the same one. */
export function toAccount({ transfer, number }: Move, accounts: number): number {
  let hash = number
  for (let at = 0; at < transfer.length; at += 1)
    hash = Math.imul(hash, HASH_FACTOR) + transfer.charCodeAt(at)
  return 1 + ((hash >>> 0) % accounts)
}
