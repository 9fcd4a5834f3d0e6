import { toKeyNumber } from './key-number.ts'

/**
 * Tells which keys, or values, the type of a column can hold. A database answers to another one with an error, for all calls of the group, or it
 * looks through the whole table for such a key and locks each row.
 */
export interface ColumnType {
  /** It differs where the type of the column differs. */
  readonly type: string
  holds(text: string): boolean
}

/** No index of InnoDB has longer keys, and none of PostgreSQL unless they can be compressed. */
export const KEY_BYTES_MAX = 3_072

/** Tells whether there may be a row with this key. Without a column it is told by the length alone. */
export function mayBeKey(column: ColumnType | undefined, id: string): boolean {
  return Buffer.byteLength(id) <= KEY_BYTES_MAX && column?.holds(id) !== false
}

export function integerColumn(type: string, bits: number, isUnsigned = false): ColumnType {
  const min = isUnsigned ? 0n : -(2n ** BigInt(bits - 1))
  const max = 2n ** BigInt(isUnsigned ? bits : bits - 1) - 1n
  return {
    type,
    holds(id) {
      const digits = toKeyNumber(id)
      if (digits === undefined || digits.length > INT_LENGTH_MAX) return false
      const value = BigInt(digits)
      return value >= min && value <= max
    },
  }
}

/** A column of whole numbers with so many digits. */
export function wholeDecimalColumn(type: string, digitsMax: number): ColumnType {
  return {
    type,
    holds(id) {
      const digits = toKeyNumber(id)
      return digits !== undefined && digits.replace('-', '').length <= digitsMax
    },
  }
}

export function patternColumn(type: string, pattern: RegExp): ColumnType {
  return { type, holds: (id) => pattern.test(id) }
}

/** No whole number of 64 bits is longer, with its sign. */
const INT_LENGTH_MAX = 20
