import { toSessionTimeouts } from '@counterstep/store-sql'
import { describeOn } from '@counterstep/test-servers/vitest'
import { createConnection } from 'mysql2/promise'
import { expect, it } from 'vitest'
import { openMysqlStore } from '../src/open-mysql-store.ts'
import { toConnectionTarget } from '../src/sessions/connection-target.ts'
import { StoreSessions } from '../src/sessions/store-sessions.ts'
import { DatabaseTransactions } from '../src/transactions/database-transactions.ts'
import type { Tx, Work } from '../src/transactions/transaction-protocol.ts'
import { renewLeases } from '../src/writes/renew-leases.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction } from './transactions.ts'

/** This class calls back after each run. */
class WatchedTransactions extends DatabaseTransactions {
  readonly #onDone: () => Promise<void>

  constructor(sessions: StoreSessions, onDone: () => Promise<void>) {
    super(sessions.writers, 2_000, () => sessions.discardIdle())
    this.#onDone = onDone
  }

  override async run<T>(work: (tx: Tx) => Promise<Work<T>>): Promise<T> {
    const value = await super.run(work)
    await this.#onDone()
    return value
  }
}

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'renewal', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    it('A renewal asks again, a little later, for a row that was locked for a moment', async () => {
      const { url, rootUrl } = await databases.migrated('renewal')
      const transactions = ['a', 'b'].map((gid) => aTransaction(gid))
      const store = await openMysqlStore({ url })
      for (const transaction of transactions) await store.create(transaction)
      await store.close()
      const flush = await createConnection({ uri: rootUrl })
      await flush.beginTransaction()
      await flush.query("UPDATE counterstep_transactions SET attention = 1 WHERE gid = 'a'")
      let runs = 0
      const settings = { ...toSessionTimeouts({}), connectionsMax: 2, onEvent: () => undefined }
      const sessions = new StoreSessions(toConnectionTarget(url, undefined, 2_000), settings)
      const watched = new WatchedTransactions(sessions, async () => {
        runs += 1
        await flush.rollback()
      })
      const { renewed, lost } = await renewLeases(watched, transactions, 60_000)
      expect([renewed.map(({ gid }) => gid), lost, runs]).toEqual([['b', 'a'], [], 2])
      await sessions.close()
      flush.destroy()
    })
  })
}
