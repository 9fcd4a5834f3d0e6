const BARRIER_TABLE_DEFAULT = 'counterstep_barrier'

// 48 letters leave room for the suffixes of the index and of the migrations' table within PostgreSQL's 63 bytes.
const NAME = /^(?:([A-Za-z_][A-Za-z0-9_]{0,62})\.)?([A-Za-z_][A-Za-z0-9_]{0,47})$/

/** The parts of a table's name. None of them needs escaping beyond its quotes. */
export interface TableName {
  readonly schema?: string
  readonly table: string
}

/** Splits a name into its parts. Names go into the SQL as text, so only plain ones are allowed. */
export function parseTableName(name: string = BARRIER_TABLE_DEFAULT): TableName {
  const match = NAME.exec(name)
  const table = match?.[2]
  if (table === undefined) {
    throw new TypeError('table must be a plain name of at most 48 letters, digits and _, or schema.name')
  }
  const schema = match?.[1]
  return schema === undefined ? { table } : { schema, table }
}

/** Quotes a name with the dialect's quote: a backtick in MySQL, a double quote elsewhere. */
export function quoteTable({ schema, table }: TableName, quote: '`' | '"'): string {
  const name = `${quote}${table}${quote}`
  return schema === undefined ? name : `${quote}${schema}${quote}.${name}`
}
