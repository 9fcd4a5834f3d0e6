import { randomBytes } from 'node:crypto'
import { AssertionError, NEVER_AT } from '@counterstep/core'
import { STATEMENTS } from '../generated/sql.ts'
import { fill, statementOf } from '../sessions/statement.ts'
import type { Tx } from './database-transactions.ts'

const INSERT_DUMMY = statementOf(STATEMENTS.insertDummy)
const DELETE_DUMMY = statementOf(STATEMENTS.deleteDummy)
/** No gid has a space. Near the end of the index, where no check for a duplicate has locked a gap. */
const DUMMY_PREFIX = '~ '

/**
 * To be called before the COMMIT on which an answer rides that was read and not written. Without a binary log InnoDB
 * shows a row, and gives its lock free, before the COMMIT that wrote it has reached the disk; and the COMMIT of a
 * database transaction that has changed nothing waits for no disk. One that has flushes the log past all it has read.
 */
export async function ensureOwnRedo({ session, rowsChangedBefore }: Tx): Promise<void> {
  if (session.rowsChanged > rowsChangedBefore) return
  const gid = `${DUMMY_PREFIX}${randomBytes(16).toString('hex')}`
  await session.run(fill(INSERT_DUMMY, [gid, NEVER_AT]))
  const deleted = await session.run(fill(DELETE_DUMMY, [gid]))
  if (deleted !== 1) throw new AssertionError('the row that forces the log to the disk would stay')
}
