import { STATEMENTS } from '../generated/sql.ts'
import { isOfStatement, SqlError, UnsentError } from '../sessions/server-errors.ts'
import { fill, parseStatement } from '../sessions/statement.ts'
import { commitAtOnce } from './commit-at-once.ts'
import { NOW_MARK, NOW_SQL, type TransactionProtocol } from './transaction-protocol.ts'

/** What the look makes of a server that takes reads only. */
const OUT_OF_RANGE = 1690
const SET_NOW_TO = parseStatement(STATEMENTS.setNowTo)

/** On a connection of its own: several statements in a packet, and the instant in what the session keeps as its last id. */
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
      // An error ends the packet, so this one proves that the COMMIT was not reached.
      if (error.errno !== OUT_OF_RANGE)
        throw new UnsentError(error.fault, error.message, error.errno, error.code)
      session.destroy()
      throw new SqlError('read-only', 'the server has become read-only')
    }
  },
}
