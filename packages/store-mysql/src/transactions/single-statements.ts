import { STATEMENTS } from '../generated/sql.ts'
import { textOf } from '../reads/stored-row.ts'
import type { Variables } from '../schema/server-facts.ts'
import { SqlError } from '../sessions/server-errors.ts'
import type { Conduct } from './transaction-protocol.ts'
import { NOW_MARK } from './now-mark.ts'

/** As set-session-multiplexed.sql and set-isolation.sql make it. */
const SESSION = '0 STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION utf8mb4 READ-COMMITTED'

/**
 * Behind a proxy that lends a connection for a database transaction: nothing that it would have to keep the connection
 * for, which is a variable, a packet of several statements, and a function that asks for the statement before.
 */
export function singleStatements(server: Variables): Conduct {
  const isOldName = !server.has('transaction_isolation')
  const head = isOldName
    ? STATEMENTS.headMultiplexed.replace('@@transaction_isolation', '@@tx_isolation')
    : STATEMENTS.headMultiplexed
  return {
    async begin(session, timeoutMs) {
      const [[now = null, readOnly = null, innodbReadOnly = null, found = null] = []] = await session.all(
        head,
        timeoutMs,
      )
      if (textOf(found) === SESSION) return [now, readOnly, innodbReadOnly]
      session.destroy()
      throw new SqlError('unavailable', `the session is not as it was set up: ${textOf(found)}`)
    },
    async commit(session) {
      await session.run('COMMIT')
    },
    runNow: (session, now, statements) =>
      session.oneByOne(statements.map((sql) => sql.replaceAll(NOW_MARK, String(now)))),
  }
}
