import { execute, type MysqlConnection, toTransactionLostError } from './mysql-connection.ts'

/**
 * A call's gid has no control character. So this one is no call's, and it sorts before them all: a call that is repeated
 * under REPEATABLE READ locks the gaps beside its rows, and rarely are these the first of the table.
 */
const DUMMY_PREFIX = '\0'
/** If such a row ever stayed, the next purge would delete it. */
const DUMMY_COLUMNS = "branch_id, op, barrier_id, reason, created_at) VALUES (?, '', '', '', '', 0)"
const OF_DUMMY = "gid = ? AND branch_id = '' AND op = '' AND barrier_id = ''"

/** Makes the COMMIT of the open transaction flush the log past all that it has read. */
export type Flush = (connection: MysqlConnection, table: string) => Promise<void>

/**
 * Inserts a row and deletes it. Without a binary log InnoDB shows a row before the COMMIT that wrote it has reached the
 * disk. The COMMIT of a transaction that has changed nothing does not wait for the disk, and one that has flushes the log
 * up to its own end. To set a column to the value that it has would change nothing, and to change a standing row and set
 * it back would let two repetitions of one call wait for each other. `table` is quoted already.
 */
export const flushWithin: Flush = async (connection, table) => {
  const gid = Buffer.from(`${DUMMY_PREFIX}${crypto.randomUUID()}`)
  await execute(connection, `INSERT INTO ${table} (gid, ${DUMMY_COLUMNS}`, [gid])
  const { affectedRows } = await execute(connection, `DELETE FROM ${table} WHERE ${OF_DUMMY}`, [gid])
  if (affectedRows !== 1) throw toTransactionLostError('the row that forces the log to the disk would stay')
}

/**
 * Begins the transaction again before that, for a transaction that has written nothing or may end here. This frees the
 * locks of what was read, so that no other call waits for them while the log is flushed, and none of two calls that both
 * have locked the gap of the row keeps the other from inserting it.
 */
export const flushAnew: Flush = async (connection, table) => {
  await execute(connection, 'START TRANSACTION')
  await flushWithin(connection, table)
}
