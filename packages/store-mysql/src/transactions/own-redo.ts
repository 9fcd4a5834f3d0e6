import { randomBytes } from 'node:crypto'
import { AssertionError, NEVER_AT } from '@counterstep/core'
import { STATEMENTS } from '../generated/sql.ts'
import { fill, parseStatement } from '../sessions/statement.ts'
import type { Tx } from './transaction-protocol.ts'

const INSERT_DUMMY = parseStatement(STATEMENTS.insertDummy)
const DELETE_DUMMY = parseStatement(STATEMENTS.deleteDummy)
/** No gid has a space, and the tilde sorts near the end of the index, where no check for a duplicate has locked a gap. */
const DUMMY_PREFIX = '~ '

/**
 * Is called before a COMMIT whose answer was read and not written, here or by a read before it. Without a binary log InnoDB shows a row, and frees its
 * lock, before the COMMIT that wrote it has reached the disk. The COMMIT of a database transaction that has changed
 * nothing does not wait for the disk. A transaction that has changed a row flushes the log past all that it has read.
 */
export async function ensureOwnRedo({ session, rowsChangedBefore }: Tx): Promise<void> {
  if (session.rowsChanged > rowsChangedBefore) return
  const gid = `${DUMMY_PREFIX}${randomBytes(16).toString('hex')}`
  await session.run(fill(INSERT_DUMMY, [gid, NEVER_AT]))
  const deleted = await session.run(fill(DELETE_DUMMY, [gid]))
  if (deleted !== 1) throw new AssertionError('the row that forces the log to the disk would stay')
}
