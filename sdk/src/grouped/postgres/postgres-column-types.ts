import { type ColumnType, integerColumn, patternColumn, wholeDecimalColumn } from '../addition/column-type.ts'

/** PostgreSQL keeps no zero byte in a text, whatever the column is. */
const NO_ZERO_BYTE = /^[^\0]*$/
const NUMERIC = /^[ \t\n\v\f\r]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,4})?[ \t\n\v\f\r]*$/i
const UUID = /^(?:[0-9a-f]{4}(?:-?[0-9a-f]{4}){7}|\{[0-9a-f]{4}(?:-?[0-9a-f]{4}){7}\})$/i

// These numbers stand in the table pg_type: int8, int2, int4, numeric and uuid.
const NUMERIC_ID = 1700
const COLUMNS: ReadonlyMap<unknown, ColumnType> = new Map([
  [20, integerColumn('int8', 64)],
  [21, integerColumn('int2', 16)],
  [23, integerColumn('int4', 32)],
  [NUMERIC_ID, patternColumn('numeric', NUMERIC)],
  [2950, patternColumn('uuid', UUID)],
])

/** Reads the type of the key, which is the last of a statement's columns. */
export function readKeyColumn(fields: readonly unknown[] | undefined): ColumnType | undefined {
  const field = fields?.at(-1)
  if (!isField(field)) return undefined
  return COLUMNS.get(field.dataTypeID) ?? patternColumn(`type ${field.dataTypeID}`, NO_ZERO_BYTE)
}

/** Reads the type of the value, which stands before the key. */
export function readValueColumn(fields: readonly unknown[] | undefined): ColumnType | undefined {
  const field = fields?.at(-2)
  if (!isField(field)) return undefined
  return readNumericColumn(field) ?? COLUMNS.get(field.dataTypeID)
}

/** A numeric column with a bound has its digits in the upper half of the modifier, and those behind the point in the lower one. */
function readNumericColumn({ dataTypeID, dataTypeModifier }: Field): ColumnType | undefined {
  if (dataTypeID !== NUMERIC_ID || typeof dataTypeModifier !== 'number') return undefined
  const [digitsMax, scale] = [(dataTypeModifier - 4) >> 16, (dataTypeModifier - 4) & 0x7ff]
  return digitsMax > 0 && scale === 0 ? wholeDecimalColumn(`numeric(${digitsMax})`, digitsMax) : undefined
}

interface Field {
  readonly dataTypeID: unknown
  readonly dataTypeModifier?: unknown
}

function isField(field: unknown): field is Field {
  return typeof field === 'object' && field !== null && 'dataTypeID' in field
}
