import { earlierMs, splitCopies } from './copied-rows.ts'
import { readRows } from './postgres-rows.ts'

const PART_ROWS = 20_000
const TABLE = 'counterstep_transactions'
/** So much later than the first copy was made; `n` is the copy's number, $1 the age of the first one, $2 the time between two. */
const LATER = '- $1::bigint + n * $2::bigint'
/** These are not as in the original. */
const CHANGED: Readonly<Record<string, string>> = {
  // UUIDv7: time first, as the server draws them.
  gid: `lpad(to_hex(created_at ${LATER}), 12, '0') || '7' || left(md5(random()::text), 23)`,
  created_at: `created_at ${LATER}`,
  updated_at: `updated_at ${LATER}`,
  due_at: `due_at ${LATER}`,
}

export async function copyPostgresRow(
  url: string,
  copies: number,
  onCopied: (count: number) => void,
): Promise<void> {
  const [finished] = await readRows(
    url,
    `SELECT count(*)::integer AS count, min(gid) AS gid FROM ${TABLE} WHERE live = 0`,
  )
  if (finished?.count !== 1)
    throw new Error(`there must be one finished transaction to copy, not ${finished?.count}`)
  const columns = await readColumns(url)
  const { firstMs, stepMs } = earlierMs(copies)
  for (const { from, to } of splitCopies(copies, PART_ROWS)) {
    await readRows(
      url,
      `INSERT INTO ${TABLE} (${columns.join(', ')})
       SELECT ${columns.map((name) => CHANGED[name] ?? name).join(', ')}
       FROM generate_series($3::bigint, $4::bigint) AS n, ${TABLE} original
       WHERE original.gid = $5 ORDER BY n`,
      [firstMs, stepMs, from, to, String(finished.gid)],
    )
    onCopied(to)
  }
  await readRows(url, `VACUUM (ANALYZE) ${TABLE}`)
}

async function readColumns(url: string): Promise<readonly string[]> {
  const rows = await readRows(
    url,
    `SELECT column_name AS name FROM information_schema.columns WHERE table_name = '${TABLE}' ORDER BY ordinal_position`,
  )
  return rows.map(({ name }) => String(name))
}
