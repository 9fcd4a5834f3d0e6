import type { BarrierCall } from '../../branch/branch.ts'

/**
 * What one call adds to which row: what the handler before `conditionalAdd` returns.
 *
 * @example
 * ```ts
 * const handler = (_: undefined, { op, payload }: Branch<{ id: string; cents: number }>): Addition => ({
 *   id: payload.id,
 *   delta: op === 'action' ? -payload.cents : payload.cents,
 * })
 * ```
 */
export interface Addition {
  /**
   * Of the row, as its key column has it, to the letter: whatever the collation, `Alice` is not `alice`. A row that is
   * found by another writing of its number or UUID (007 for 7) is an error, which is tried again, and no failure; so is
   * an id that has not the length of a BINARY(n) key, which MySQL finds only with the zero bytes that it was padded with.
   */
  readonly id: string | number | bigint
  /** A whole number of 64 bits: a safe integer, a bigint, or a string of digits with a sign before it or none. */
  readonly delta: number | bigint | string
}

/**
 * One addition that was made, as the log gets it.
 *
 * @example
 * ```ts
 * const values = ({ call, id, delta }: Added<Addition>) => [call.gid, id, delta]
 * ```
 */
export interface Added<Entry extends Addition> {
  readonly call: BarrierCall
  readonly entry: Entry
  readonly id: string
  readonly delta: bigint
  /** What the column has after it; a later call of the group may have added more. */
  readonly value: bigint
}

/**
 * A row per call that added something, in the same transaction: a ledger.
 *
 * @example
 * ```ts
 * const log: AdditionLog<Addition> = {
 *   table: 'ledger',
 *   columns: ['gid', 'op', 'account', 'cents'],
 *   values: ({ call, id, delta }) => [call.gid, call.op, id, delta],
 * }
 * ```
 */
export interface AdditionLog<Entry extends Addition> {
  /** A plain name, or schema.name. */
  readonly table: string
  /** Plain names, 1 to 32. */
  readonly columns: readonly string[]
  /**
   * One for each column. What it throws keeps the call from adding, and is tried again. Asked perhaps also for a call
   * that turns out to be a repetition: its row is not written then.
   */
  readonly values: (added: Added<Entry>) => readonly (string | number | bigint | null)[]
}

/**
 * What `conditionalAdd` adds to.
 *
 * @example
 * ```ts
 * const options: ConditionalAddOptions<Addition> = { table: 'account', valueColumn: 'cents', min: -10_000 }
 * ```
 */
export interface ConditionalAddOptions<Entry extends Addition> {
  /** A plain name, or schema.name. */
  readonly table: string
  /** The table's primary key or another unique one, of whole numbers or text (UTF-8, if it is one of bytes). Default `id`. */
  readonly keyColumn?: string
  /** A column of whole numbers, not null. */
  readonly valueColumn: string
  /** What must remain after an action that takes away. Default 0; null for no limit. */
  readonly min?: number | bigint | string | null
  readonly log?: AdditionLog<Entry>
}

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n
const WHOLE = /^[+-]?\d{1,19}$/

/** What the largest integer column holds. */
export function isInt64(value: bigint): boolean {
  return value >= INT64_MIN && value <= INT64_MAX
}

/** Undefined for what is no whole number of 64 bits, or has been rounded on its way. */
export function toWholeNumber(value: unknown): bigint | undefined {
  const isWhole =
    typeof value === 'bigint' ||
    (typeof value === 'number' && Number.isSafeInteger(value)) ||
    (typeof value === 'string' && WHOLE.test(value))
  if (!isWhole) return undefined
  // BigInt takes a minus before digits, but no plus.
  const whole = BigInt(typeof value === 'string' && value.startsWith('+') ? value.slice(1) : value)
  return isInt64(whole) ? whole : undefined
}
