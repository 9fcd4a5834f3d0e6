import type { BarrierCall } from '../../branch/branch.ts'

/**
 * This is one addition to one row. The handler in front of `conditionalAdd` returns it.
 *
 * @example
 * ```ts
 * const handler = (_: undefined, { op, payload }: Branch<{ id: string; cents: number }>): Addition => ({
 *   id: payload.id,
 *   delta: op === 'compensate' ? payload.cents : -payload.cents,
 * })
 * ```
 */
export interface Addition {
  /**
   * The key of the row, exactly as its key column has it: whatever the collation, `Alice` is not `alice`. If the row is
   * found only by another form of its number or UUID (007 for 7), the call ends with an error, which is tried again,
   * and not with a failure. An id whose length is not that of a BINARY(n) key ends with an error, too, because MySQL
   * finds such a key only with the zero bytes that pad it.
   */
  readonly id: string | number | bigint
  /**
   * This is a whole number of 64 bits: a safe integer, a bigint, or a string of digits, which may have a sign before
   * it.
   */
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
  /** This is the column's value after this addition. A later call of the group may have added more. */
  readonly value: bigint
}

/**
 * A ledger: one row for each call that added something, written in the same transaction.
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
  /** It is a plain name, or schema.name. */
  readonly table: string
  /** Plain names, 1 to 32. */
  readonly columns: readonly string[]
  /**
   * Returns one value for each column. If this function throws, the call adds nothing and is tried again. It may also
   * be called for a call that turns out to be a repetition; the row is then not written.
   */
  readonly values: (added: Added<Entry>) => readonly (string | number | bigint | null)[]
}

/**
 * Names the column that `conditionalAdd` adds to, and its limit.
 *
 * @example
 * ```ts
 * const options: ConditionalAddOptions<Addition> = { table: 'account', valueColumn: 'cents', min: -10_000 }
 * ```
 */
export interface ConditionalAddOptions<Entry extends Addition> {
  /** It is a plain name, or schema.name. */
  readonly table: string
  /**
   * The column is the table's primary key or another unique key, of whole numbers or text (UTF-8, if the column has
   * bytes). The default is `id`.
   */
  readonly keyColumn?: string
  /** This is a column of whole numbers, not null. */
  readonly valueColumn: string
  /** An action may leave no lower value than this. The default is 0, and null is no limit. */
  readonly min?: number | bigint | string | null
  readonly log?: AdditionLog<Entry>
}

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n
const WHOLE = /^[+-]?\d{1,19}$/

/** Tells whether the largest integer column can hold the value. */
export function isInt64(value: bigint): boolean {
  return value >= INT64_MIN && value <= INT64_MAX
}

/**
 * Returns undefined for a value that is not a whole number of 64 bits, or that may have been rounded before it came
 * here.
 */
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
