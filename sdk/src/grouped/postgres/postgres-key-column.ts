import { integerColumn, type KeyColumn, patternColumn } from '../addition/key-column.ts'

/** PostgreSQL keeps no zero byte in a text, whatever the column is. */
const NO_ZERO_BYTE = /^[^\0]*$/
const NUMERIC = /^[ \t\n\v\f\r]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,4})?[ \t\n\v\f\r]*$/i
const UUID = /^(?:[0-9a-f]{4}(?:-?[0-9a-f]{4}){7}|\{[0-9a-f]{4}(?:-?[0-9a-f]{4}){7}\})$/i

// These numbers stand in the table pg_type: int8, int2, int4, numeric and uuid.
const COLUMNS: ReadonlyMap<unknown, KeyColumn> = new Map([
  [20, integerColumn('int8', 64)],
  [21, integerColumn('int2', 16)],
  [23, integerColumn('int4', 32)],
  [1700, patternColumn('numeric', NUMERIC)],
  [2950, patternColumn('uuid', UUID)],
])

/** Reads the type of the key, which is the last of a statement's columns. */
export function readKeyColumn(fields: readonly unknown[] | undefined): KeyColumn | undefined {
  const field = fields?.at(-1)
  if (typeof field !== 'object' || field === null || !('dataTypeID' in field)) return undefined
  return COLUMNS.get(field.dataTypeID) ?? patternColumn(`type ${field.dataTypeID}`, NO_ZERO_BYTE)
}
