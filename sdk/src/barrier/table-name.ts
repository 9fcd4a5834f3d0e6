const BARRIER_TABLE_DEFAULT = 'counterstep_barrier'

// Room for the suffixes of the index and of the migrations' table within PostgreSQL's 63 bytes.
const NAME = /^(?:([A-Za-z_][A-Za-z0-9_]{0,62})\.)?([A-Za-z_][A-Za-z0-9_]{0,47})$/

/** A table's name in its parts, none of which needs escaping beyond its quotes. */
export interface TableName {
  readonly schema?: string
  readonly table: string
}

/** Names go into the SQL as text, so nothing but plain ones is let in. */
export function parseTableName(name: string = BARRIER_TABLE_DEFAULT): TableName {
  const match = NAME.exec(name)
  const table = match?.[2]
  if (table === undefined) {
    throw new TypeError('table must be a plain name of at most 48 letters, digits and _, or schema.name')
  }
  const schema = match?.[1]
  return schema === undefined ? { table } : { schema, table }
}

/** `quote` is the dialect's: a backtick in MySQL, a double quote elsewhere. */
export function quoteTable({ schema, table }: TableName, quote: '`' | '"'): string {
  const name = `${quote}${table}${quote}`
  return schema === undefined ? name : `${quote}${schema}${quote}.${name}`
}
