import type { FoundRows } from '../addition/addition-sql.ts'
import { type ColumnType, integerColumn, wholeDecimalColumn } from '../addition/column-type.ts'

// These numbers stand in the column definitions of MySQL's protocol: the types of columns, the charset of bytes, and a flag.
const INTEGER_BITS: ReadonlyMap<unknown, number> = new Map([
  [1, 8],
  [2, 16],
  [9, 24],
  [3, 32],
  [8, 64],
])
const DECIMAL = 246
const INEXACT: ReadonlySet<number> = new Set([4, 5])
/** CHAR and BINARY. */
const STRING = 254
const BINARY = 63
const UNSIGNED = 32

interface Field {
  readonly type: number
  readonly characterSet: number
  readonly columnLength: number
  readonly flags: number
  readonly decimals: number
}

/** Reads the definitions of value and key, which are the last of a statement's columns. Throws for a value that is not exact. */
export function readColumnTypes(fields: unknown): Pick<FoundRows, 'keyBytes' | 'column' | 'valueColumn'> {
  const [value, key]: readonly unknown[] = Array.isArray(fields) ? [fields.at(-2), fields.at(-1)] : []
  if (isField(value) && INEXACT.has(value.type))
    throw new Error(
      'conditionalAdd needs a value column of whole numbers: FLOAT and DOUBLE round what is in them',
    )
  return {
    ...(isField(key) ? { keyBytes: readKeyBytes(key), column: readType(key) } : {}),
    ...(isField(value) ? { valueColumn: readType(value) } : {}),
  }
}

function isField(field: unknown): field is Field {
  const numbers = ['type', 'characterSet', 'columnLength', 'flags', 'decimals']
  return (
    typeof field === 'object' &&
    field !== null &&
    numbers.every((name) => typeof (field as Readonly<Record<string, unknown>>)[name] === 'number')
  )
}

/** Returns n for a key column of BINARY(n). Such a column pads keys with zero bytes, and finds a key only with them. */
function readKeyBytes({ type, characterSet, columnLength }: Field): number | undefined {
  return type === STRING && characterSet === BINARY ? columnLength : undefined
}

/** A number beyond its column is compared as a double: no index is used, and each row is locked. */
function readType({ type, flags, columnLength, decimals }: Field): ColumnType | undefined {
  const isUnsigned = (flags & UNSIGNED) !== 0
  const bits = INTEGER_BITS.get(type)
  if (bits !== undefined)
    return integerColumn(`${isUnsigned ? 'unsigned ' : ''}${bits} bits`, bits, isUnsigned)
  // The length counts a place for the sign.
  const digitsMax = columnLength - (isUnsigned ? 0 : 1)
  return type === DECIMAL && decimals === 0 ? wholeDecimalColumn(`${digitsMax} digits`, digitsMax) : undefined
}
