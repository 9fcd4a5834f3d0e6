import { STATEMENTS } from '../generated/sql.ts'
import { isOfStatement, SqlError, UnsentError } from '../sessions/server-errors.ts'
import { fill, parseStatement } from '../sessions/statement.ts'
import { commitAtOnce } from './commit-at-once.ts'
import { NOW_MARK, NOW_SQL, type TransactionProtocol } from './transaction-protocol.ts'

/** The error of the look before a COMMIT on a server that takes only reads. */
const OUT_OF_RANGE = 1690
const SET_NOW_TO = parseStatement(STATEMENTS.setNowTo)

/** The protocol on a connection of our own: a packet holds several statements, and the session's last insert id holds the instant. */
export const PACKETS: TransactionProtocol = {
  commitAtOnce,
  async begin(session, timeoutMs) {
    const [row = []] = await session.all(STATEMENTS.head, timeoutMs)
    return row
  },
  async runNow(session, now, statements) {
    const setNow = fill(SET_NOW_TO, [now])
    const answers = await session.packet(
      statements.flatMap((sql) => [setNow, sql.replaceAll(NOW_MARK, NOW_SQL)]),
    )
    return answers.filter((_, i) => i % 2 === 1)
  },
  async commit(session) {
    try {
      await session.packet([STATEMENTS.lookBeforeCommit, 'COMMIT'])
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
