import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface StoredRow {
  readonly gid: string
  /** A final row is never run again. */
  readonly isFinal: boolean
}

/** Reads the rows in the store of a stopped server, past every layer of it. */
export function readStoredRows(dataFolder: string): readonly StoredRow[] {
  const database = new DatabaseSync(join(dataFolder, 'counterstep.db'), { readOnly: true })
  try {
    const rows = database.prepare('SELECT gid, live FROM transactions').all()
    return (rows as unknown as { readonly gid: string; readonly live: number }[]).map(({ gid, live }) => ({
      gid,
      isFinal: live === 0,
    }))
  } finally {
    database.close()
  }
}
