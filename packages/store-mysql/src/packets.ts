import { commitAtOnce } from './commit-at-once.ts'
import type { Conduct } from './conduct.ts'
import { STATEMENTS } from './generated/sql.ts'
import type { Row } from './session.ts'
import { fill, statementOf } from './statement.ts'

const SET_NOW_TO = statementOf(STATEMENTS.setNowTo)

/** On a connection of its own: several statements in a packet, and the instant in a variable of the session. */
export const PACKETS: Conduct = {
  nowText: '@counterstep_now',
  atOnce: commitAtOnce,
  async begin(session, timeoutMs) {
    const [, head] = await session.packet([STATEMENTS.setNow, STATEMENTS.head], timeoutMs)
    const [row = []] = head as readonly Row[]
    return row
  },
  async runNow(session, now, statements) {
    const [, ...answers] = await session.packet([fill(SET_NOW_TO, [now]), ...statements])
    return answers
  },
}
