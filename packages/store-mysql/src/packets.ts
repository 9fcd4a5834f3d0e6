import { commitAtOnce } from './commit-at-once.ts'
import type { Conduct } from './conduct.ts'
import { STATEMENTS } from './generated/sql.ts'
import { NOW_MARK, NOW_SQL } from './now-mark.ts'
import { SqlError } from './server-errors.ts'
import { fill, statementOf } from './statement.ts'

const SET_NOW_TO = statementOf(STATEMENTS.setNowTo)

/** On a connection of its own: several statements in a packet, and the instant in what the session keeps as its last id. */
export const PACKETS: Conduct = {
  atOnce: commitAtOnce,
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
      const isOfLook = error instanceof SqlError && error.fault === 'row' && session.answered === 0
      if (!isOfLook) throw error
      session.destroy()
      throw new SqlError('read-only', 'the server has become read-only')
    }
  },
}
