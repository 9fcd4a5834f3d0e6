import { toBarrierKey } from '../../branch/barrier-key.ts'
import { BranchError } from '../../branch/branch-errors.ts'
import { parseTableName, quoteTable, type TableName } from '../table-name.ts'
import {
  execute,
  type MysqlConnection,
  type MysqlPool,
  type MysqlPoolConnection,
  select,
} from './mysql-connection.ts'
import { DURABILITY_SETTINGS, findDurabilityFaults } from './mysql-durability.ts'
import { flushWithin } from './mysql-flush.ts'
import { createMysqlRows } from './mysql-rows.ts'
import { findDriverFaults } from './mysql2-parts.ts'

const KEY = 'gid,branch_id,op,barrier_id'
const TYPES = 'varbinary(128),varbinary(128),varbinary(16),varbinary(32)'
/** The name differs between MySQL 8 and MariaDB. */
const ISOLATION_SETTINGS = ['transaction_isolation', 'tx_isolation'] as const
const ISOLATIONS: ReadonlySet<string> = new Set(['READ-COMMITTED', 'REPEATABLE-READ', 'SERIALIZABLE'])

/**
 * Checks at start-up whether the barrier can keep what it promises: its table is there with the right key and types,
 * compared by bytes; this table and the business table that you name are on one server and in InnoDB; the isolation is
 * at least READ COMMITTED; a COMMIT waits for the disk; the installed mysql2 has the parts that the barrier reads; and a row can be inserted, read
 * and rolled back. Leaves nothing behind. Throws one `BranchError` with `BARRIER_MISCONFIGURED` that names every fault,
 * and the driver's error if there is no server.
 *
 * @example
 * ```ts
 * await checkBarrier(pool, { businessTable: 'account' })
 * ```
 */
export async function checkBarrier<Connection extends MysqlPoolConnection>(
  pool: MysqlPool<Connection>,
  { table, businessTable }: { readonly table?: string; readonly businessTable?: string } = {},
): Promise<void> {
  const connection = await pool.getConnection()
  try {
    const name = parseTableName(table)
    const faults = [
      ...(await findDriverFaults(connection)),
      ...(await findTableFaults(connection, name)),
      ...(await findSettingFaults(connection)),
      ...(businessTable === undefined
        ? []
        : await findEngineFaults(connection, parseTableName(businessTable))),
    ]
    if (faults.length === 0) faults.push(...(await findProbeFaults(connection, quoteTable(name, '`'))))
    if (faults.length > 0) throw new BranchError('BARRIER_MISCONFIGURED', faults.join('; '))
    connection.release()
  } catch (error: unknown) {
    connection.destroy()
    throw error
  }
}

async function findTableFaults(connection: MysqlConnection, name: TableName): Promise<string[]> {
  const faults = await findEngineFaults(connection, name)
  if (faults.length > 0) return faults
  const { schema, table } = name
  const keyed = 'table_name = ? AND table_schema = COALESCE(?, DATABASE())'
  const indexes = await select(
    connection,
    `SELECT index_name, GROUP_CONCAT(column_name ORDER BY seq_in_index), MIN(non_unique)
     FROM information_schema.statistics WHERE ${keyed} GROUP BY index_name`,
    [table, schema ?? null],
  )
  const unique = indexes.filter(([, , nonUnique]) => nonUnique === '0')
  if (unique.length !== 1 || unique[0]?.[1] !== KEY) {
    faults.push(`the one unique key of ${table} must be the primary key (${KEY})`)
  }
  const columns = await select(
    connection,
    `SELECT column_name, column_type FROM information_schema.columns WHERE ${keyed}`,
    [table, schema ?? null],
  )
  const typeByColumn = new Map(columns.map(([column, type]) => [column, type]))
  const types = KEY.split(',').map((column) => typeByColumn.get(column))
  if (types.join() !== TYPES) faults.push(`the key columns of ${table} are ${types.join()}, not ${TYPES}`)
  return faults
}

async function findEngineFaults(
  connection: MysqlConnection,
  { schema, table }: TableName,
): Promise<string[]> {
  const [row] = await select(
    connection,
    `SELECT engine FROM information_schema.tables
     WHERE table_name = ? AND table_schema = COALESCE(?, DATABASE())`,
    [table, schema ?? null],
  )
  if (row === undefined) return [`there is no table ${table} here (for the barrier's: run migrateBarrier)`]
  const [engine] = row
  return engine === 'InnoDB' ? [] : [`${table} is in ${engine}, which cannot roll back: it must be InnoDB`]
}

async function findSettingFaults(connection: MysqlConnection): Promise<string[]> {
  const names = [...ISOLATION_SETTINGS, ...DURABILITY_SETTINGS]
  const rows = await select(
    connection,
    `SHOW VARIABLES WHERE Variable_name IN (${names.map((name) => `'${name}'`).join()})`,
  )
  const settings = new Map(rows.map(([name, value]) => [name ?? '', value ?? '']))
  const isolation = ISOLATION_SETTINGS.map((name) => settings.get(name)).find(Boolean) ?? 'unknown'
  const faults = findDurabilityFaults(settings)
  if (!ISOLATIONS.has(isolation))
    faults.push(`the isolation is ${isolation}: it must be READ COMMITTED or stricter`)
  return faults
}

/** Runs the barrier's own statements, with a gid that no transaction has, in a transaction that is rolled back. */
async function findProbeFaults(connection: MysqlConnection, name: string): Promise<string[]> {
  const key = toBarrierKey({ gid: `self-check ${crypto.randomUUID()}`, branchId: '01', op: 'action' })
  const rows = createMysqlRows(connection, name, flushWithin)
  try {
    await execute(connection, 'START TRANSACTION')
    await rows.insert(key, [{ op: 'action', reason: 'action' }], Date.now())
    await rows.keepAnswer(key, 'action', '')
    const standing = await rows.readStanding(key)
    await rows.flushStanding?.()
    await execute(connection, 'ROLLBACK')
    const left = await rows.readStanding(key)
    if (standing.length === 1 && left.length === 0) return []
    return ['a row that was inserted and rolled back is not gone']
  } catch (error: unknown) {
    return [`the barrier's statements fail: ${error instanceof Error ? error.message : String(error)}`]
  }
}
