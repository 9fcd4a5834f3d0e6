import { SqlError, toText } from '@counterstep/store-sql'
import { STATEMENTS } from '../generated/sql.ts'
import type { Variables } from '../schema/server-facts.ts'
import { NOW_MARK, type TransactionProtocol } from './transaction-protocol.ts'

/** The settings of a session after set-session-multiplexed.sql and set-isolation.sql. */
const SESSION = '0 STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION utf8mb4 READ-COMMITTED'

/**
 * The protocol behind a proxy that lends a connection for one database transaction. It uses nothing for which the proxy
 * would have to keep the connection: no variable, no packet of several statements, no function that asks about the
 * statement before.
 */
export function createSingleStatements(server: Variables): TransactionProtocol {
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
      if (toText(found) === SESSION) return [now, readOnly, innodbReadOnly]
      session.destroy()
      throw new SqlError('unavailable', `the session is not as it was set up: ${toText(found)}`)
    },
    async commit(session) {
      await session.run('COMMIT')
    },
    runNow: (session, now, statements) =>
      session.sendOneByOne(statements.map((sql) => sql.replaceAll(NOW_MARK, String(now)))),
  }
}
