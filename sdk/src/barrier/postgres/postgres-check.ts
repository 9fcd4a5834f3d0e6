import { toBarrierKey } from '../../branch/barrier-key.ts'
import { BranchError } from '../../branch/branch-errors.ts'
import { parseTableName, quoteTable, type TableName } from '../table-name.ts'
import {
  assertHearsNotices,
  execute,
  type PostgresClient,
  type PostgresPool,
  type PostgresPoolClient,
  select,
} from './postgres-client.ts'
import { createPostgresRows } from './postgres-rows.ts'

const KEY = 'gid,branch_id,op,barrier_id'

/**
 * Checks at start-up whether the barrier can keep what it promises: its table is there with the right key, compared by
 * bytes; the business table that you name is in the same database, and no view; neither they nor their partitions are
 * unlogged or foreign; a commit waits for the disk; and a row can be inserted, read and rolled back. Leaves nothing behind. Throws one `BranchError` with `BARRIER_MISCONFIGURED` that
 * names every fault, and the driver's error if there is no server. Every isolation level of PostgreSQL is good enough.
 *
 * @example
 * ```ts
 * await checkBarrier(pool, { businessTable: 'account' })
 * ```
 */
export async function checkBarrier<Client extends PostgresPoolClient>(
  pool: PostgresPool<Client>,
  { table, businessTable }: { readonly table?: string; readonly businessTable?: string } = {},
): Promise<void> {
  const client = await pool.connect()
  try {
    assertHearsNotices(client)
    const name = parseTableName(table)
    const faults = [
      ...(await findSettingFaults(client)),
      ...(await findTableFaults(client, name)),
      ...(businessTable === undefined ? [] : await findKindFaults(client, parseTableName(businessTable))),
    ]
    if (faults.length === 0) faults.push(...(await findProbeFaults(client, quoteTable(name, '"'))))
    if (faults.length > 0) throw new BranchError('BARRIER_MISCONFIGURED', faults.join('; '))
    client.release()
  } catch (error: unknown) {
    client.release(true)
    throw error
  }
}

/**
 * A commit that waits for nothing is in the server's memory alone, which it drops when one of its processes crashes. Only a
 * warning tells that a commit did not wait for its standby, or that an effect has ended its own transaction.
 */
async function findSettingFaults(client: PostgresClient): Promise<string[]> {
  const asked = "SELECT current_setting('synchronous_commit'), current_setting('client_min_messages')"
  const [row] = await select(client, asked, [])
  const [commit, messagesMin] = row ?? []
  const faults: string[] = []
  if (commit === 'off')
    faults.push('synchronous_commit is off: an effect that was answered as done may be gone after a crash')
  if (messagesMin === 'error')
    faults.push('client_min_messages is error: the barrier has to hear the warnings of the server')
  return faults
}

async function findTableFaults(client: PostgresClient, name: TableName): Promise<string[]> {
  const faults = await findKindFaults(client, name)
  if (faults.length > 0) return faults
  const keys = await select(
    client,
    `SELECT string_agg(a.attname, ',' ORDER BY k.place), bool_and(c.collname = 'C')::text
     FROM pg_index i, unnest(i.indkey) WITH ORDINALITY k (number, place), pg_attribute a
       LEFT JOIN pg_collation c ON c.oid = a.attcollation
     WHERE i.indrelid = to_regclass($1) AND i.indisunique AND a.attrelid = i.indrelid AND a.attnum = k.number
     GROUP BY i.indexrelid`,
    [quoteTable(name, '"')],
  )
  const [key] = keys
  if (keys.length !== 1 || key?.[0] !== KEY) {
    faults.push(`the one unique key of ${name.table} must be the primary key (${KEY})`)
  } else if (key[1] !== 'true') faults.push(`the key columns of ${name.table} must have the collation "C"`)
  return faults
}

/** Looks at the table and at all its partitions, because a partitioned table says nothing of how they are kept. */
async function findKindFaults(client: PostgresClient, name: TableName): Promise<string[]> {
  const rows = await select(
    client,
    `WITH RECURSIVE part AS (
       SELECT to_regclass($1)::oid AS oid
       UNION SELECT inhrelid FROM pg_inherits, part WHERE inhparent = part.oid
     ) SELECT relname::text, relkind::text, relpersistence::text FROM part JOIN pg_class USING (oid)
     ORDER BY oid <> to_regclass($1), relname`,
    [quoteTable(name, '"')],
  )
  const { table } = name
  if (rows.length === 0) return [`there is no table ${table} here (for the barrier's: run migrateBarrier)`]
  return rows.flatMap(([relation, kind, persistence], place) => {
    const found = place === 0 ? table : `the partition ${relation} of ${table}`
    if (kind === 'f') return [`${found} is foreign: it is not in this database`]
    if (kind === 'v') return [`${found} is a view: name the table that the effects are in`]
    return persistence === 'p' ? [] : [`${found} is unlogged or temporary: a crash would empty it`]
  })
}

/** Runs the barrier's own statements, with a gid that no transaction has, in a transaction that is rolled back. */
async function findProbeFaults(client: PostgresClient, name: string): Promise<string[]> {
  const key = toBarrierKey({ gid: `self-check ${crypto.randomUUID()}`, branchId: '01', op: 'action' })
  const rows = createPostgresRows(client, name)
  try {
    await execute(client, 'BEGIN')
    await rows.insert(key, [{ op: 'action', reason: 'action' }], Date.now())
    await rows.keepAnswer(key, 'action', '')
    const standing = await rows.readStanding(key)
    await execute(client, 'ROLLBACK')
    const left = await rows.readStanding(key)
    if (standing.length === 1 && left.length === 0) return []
    return ['a row that was inserted and rolled back is not gone']
  } catch (error: unknown) {
    return [`the barrier's statements fail: ${error instanceof Error ? error.message : String(error)}`]
  }
}
