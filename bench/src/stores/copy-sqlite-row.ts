import { DatabaseSync } from 'node:sqlite'
import { earlierMs, splitCopies } from './copied-rows.ts'

const PART_ROWS = 50_000
const FINISHED = 'FROM transactions WHERE live = 0'
/** These are not as in the original; `:n` is the copy's number. */
const CHANGED: Readonly<Record<string, string>> = {
  // UUIDv7: time first, as the server draws them.
  gid: `lower(printf('%012x', created_at - :first + n * :step) || '7' || substr(hex(randomblob(12)), 2))`,
  created_at: 'created_at - :first + n * :step',
  updated_at: 'updated_at - :first + n * :step',
  due_at: 'due_at - :first + n * :step',
}

export function copySqliteRow(path: string, copies: number, onCopied: (count: number) => void): void {
  const database = new DatabaseSync(path)
  try {
    // Made again if the machine goes down, so nothing is flushed for it.
    database.exec('PRAGMA synchronous = OFF')
    const columns = database
      .prepare(`SELECT name FROM pragma_table_info('transactions') WHERE name <> 'id'`)
      .all()
      .map(({ name }) => String(name))
    const rows = Number(database.prepare(`SELECT count(*) AS count ${FINISHED}`).get()?.count)
    if (rows !== 1) throw new Error(`there must be one finished transaction to copy, not ${rows}`)
    const insert = database.prepare(`
      INSERT INTO transactions (${columns.join(', ')})
      WITH RECURSIVE numbers (n) AS (SELECT :from UNION ALL SELECT n + 1 FROM numbers WHERE n < :to)
      SELECT ${columns.map((name) => CHANGED[name] ?? name).join(', ')}
      FROM numbers, (SELECT * ${FINISHED} ORDER BY id LIMIT 1)
      ORDER BY n`)
    const { firstMs, stepMs } = earlierMs(copies)
    for (const { from, to } of splitCopies(copies, PART_ROWS)) {
      insert.run({ from, to, first: firstMs, step: stepMs })
      onCopied(to)
    }
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    database.close()
  }
}
