import { CommitInDoubt, type Row, SqlError, UnsentError } from '@counterstep/store-sql'
import { STATEMENTS } from '../generated/sql.ts'
import { isOfStatement, isRefusedCommit } from '../sessions/server-errors.ts'
import type { Session } from '../sessions/session.ts'
import { fill, parseStatement } from '../sessions/statement.ts'
import {
  type AtOnce,
  type CountedStatement,
  NOW_MARK,
  NOW_SQL,
  type TransactionProtocol,
  type Work,
} from './transaction-protocol.ts'

/** The error of the look before a COMMIT on a server that takes only reads. */
const OUT_OF_RANGE = 1690
const SET_NOW_TO = parseStatement(STATEMENTS.setNowTo)
const GUARD = parseStatement(STATEMENTS.guard)

/** The protocol on a connection of our own: a packet holds several statements, and the session's last insert id holds the instant. */
export const PACKETS: TransactionProtocol = {
  commitAtOnce,
  async begin(session, timeoutMs) {
    const [row = []] = await session.all(STATEMENTS.head, timeoutMs)
    return row
  },
  async runNow(session, now, statements) {
    const setNow = fill(SET_NOW_TO, [now])
    const answers = await session.sendPacket(
      statements.flatMap((sql) => [setNow, sql.replaceAll(NOW_MARK, NOW_SQL)]),
    )
    return answers.filter((_, i) => i % 2 === 1)
  },
  async commit(session) {
    try {
      await session.sendPacket([STATEMENTS.lookBeforeCommit, 'COMMIT'])
    } catch (error: unknown) {
      const isOfLook = error instanceof SqlError && isOfStatement(error) && session.answered === 0
      if (!isOfLook) throw error
      // An error ends the packet, so this error proves that the COMMIT was not reached.
      if (error.errno !== OUT_OF_RANGE)
        throw new UnsentError(error.fault, error.message, error.errno, error.code)
      session.destroy()
      throw new SqlError('read-only', 'the server has become read-only')
    }
  },
}

/**
 * Sends a database transaction in one packet, from the server's clock to the COMMIT. Returns undefined, with the session
 * rolled back, if a row is not as its writer knew it or cannot be written. The caller then goes step by step and finds
 * which row that is.
 *
 * A packet that arrives after its writer has given it up, or has sent the same again, does no harm. An update's row then
 * has another version, and a version is never issued twice. A create's gid exists by then, unless the packet arrives
 * later than the end of its connection and the retention.
 */
async function commitAtOnce<T>(
  session: Session,
  { statements, toWork }: AtOnce<T>,
  probeTimeoutMs: number,
): Promise<Work<T> | undefined> {
  const marked = statements.flatMap(withGuard)
  const packet = [STATEMENTS.setNow, ...marked.map((sql) => sql.replaceAll(NOW_MARK, NOW_SQL)), 'COMMIT']
  try {
    const answers = await session.sendPacket(packet, probeTimeoutMs)
    const [[now] = []] = answers[0] as readonly Row[]
    return toWork(Number(now))
  } catch (error: unknown) {
    if (!(error instanceof SqlError)) throw error
    const isCommitNext = session.answered === packet.length - 1
    if (!isCertain(error, isCommitNext)) {
      // The server may still go on to the COMMIT, though this connection no longer listens.
      session.destroy()
      throw new CommitInDoubt(isCommitNext ? asCommitFault(error) : error)
    }
    if (error.fault !== 'duplicate' && error.fault !== 'row') throw error
    await session.run('ROLLBACK')
    return undefined
  }
}

function withGuard({ sql, changes }: CountedStatement): readonly string[] {
  return changes === undefined ? [sql] : [sql, fill(GUARD, [changes])]
}

/**
 * Nothing was committed, and nothing will be. An error ends the packet, so the error of a statement before the COMMIT
 * proves that the COMMIT was not reached. Once the packet has left, silence or the end of the connection proves nothing,
 * whatever was answered before.
 */
function isCertain(error: SqlError, isCommitNext: boolean): boolean {
  return isRefusedCommit(error) || (isOfStatement(error) && !isCommitNext)
}

/** A COMMIT waits for the disk or for a replica, and not behind the locks of rows. */
function asCommitFault({ fault, message, errno, code }: SqlError): SqlError {
  if (fault === 'stall') return new SqlError('timeout', message, errno, code)
  // From a COMMIT these faults say nothing about a row, and they must not be taken for certain.
  const known = fault === 'row' || fault === 'duplicate' ? 'unavailable' : fault
  return new SqlError(known, message, errno, code)
}
