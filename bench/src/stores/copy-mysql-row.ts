import { earlierMs, splitCopies } from './copied-rows.ts'
import type { SqlLink } from './sql-link.ts'

const PART_ROWS = 20_000
const TABLE = 'counterstep_transactions'
/** These are not as in the original; `n` is the copy's number. */
const CHANGED: Readonly<Record<string, string>> = {
  // UUIDv7: time first, as the server draws them.
  gid: "LOWER(CONCAT(LPAD(HEX(created_at - @first + n * @step), 12, '0'), '7', LEFT(SHA2(RAND(), 256), 23)))",
  created_at: 'created_at - @first + n * @step',
  updated_at: 'updated_at - @first + n * @step',
  due_at: 'due_at - @first + n * @step',
}
const DIGITS = `(SELECT 0 AS d ${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => `UNION ALL SELECT ${digit}`).join(' ')})`
/** 0 to 99,999: MariaDB's sequences and MySQL's recursion have no common spelling. */
const NUMBERS = `(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS i
  FROM ${DIGITS} a, ${DIGITS} b, ${DIGITS} c, ${DIGITS} e, ${DIGITS} f)`

export async function copyMysqlRow(
  link: SqlLink,
  database: string,
  copies: number,
  onCopied: (count: number) => void,
): Promise<void> {
  await link.run(`USE ${database}`)
  const [finished] = await link.rows(`SELECT COUNT(*) AS count, MIN(id) AS id FROM ${TABLE} WHERE live = 0`)
  if (Number(finished?.count) !== 1) {
    throw new Error(`there must be one finished transaction to copy, not ${finished?.count}`)
  }
  const columns = await readColumns(link, database)
  const { firstMs, stepMs } = earlierMs(copies)
  await link.run('SET @first = ?, @step = ?', [firstMs, stepMs])
  // No replica reads these rows, and a log of them would be as large again.
  await link.run('SET SESSION sql_log_bin = 0')
  for (const { from, to } of splitCopies(copies, PART_ROWS)) {
    await link.run(
      `INSERT INTO ${TABLE} (${columns.join(', ')})
       SELECT ${columns.map((name) => CHANGED[name] ?? name).join(', ')}
       FROM (SELECT i + ? AS n FROM ${NUMBERS} digits WHERE i <= ?) numbers, ${TABLE} original
       WHERE original.id = ? ORDER BY n`,
      [from, to - from, Number(finished?.id)],
    )
    onCopied(to)
  }
  await link.run('SET SESSION sql_log_bin = 1')
  await link.rows(`ANALYZE TABLE ${TABLE}`)
}

async function readColumns(link: SqlLink, database: string): Promise<readonly string[]> {
  const rows = await link.rows(
    `SELECT COLUMN_NAME AS name FROM information_schema.columns
     WHERE table_schema = ? AND table_name = ? AND extra NOT LIKE '%auto_increment%'
     ORDER BY ordinal_position`,
    [database, TABLE],
  )
  return rows.map(({ name }) => String(name))
}
