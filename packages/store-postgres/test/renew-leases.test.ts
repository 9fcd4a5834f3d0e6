import { toSessionTimeouts } from '@counterstep/store-sql'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { toConnectionTarget } from '../src/sessions/connection-target.ts'
import { StoreSessions } from '../src/sessions/store-sessions.ts'
import { renewLeases } from '../src/writes/renew-leases.ts'
import { WritingStatements } from '../src/writes/statements.ts'
import { onLockedRow } from './row-locks.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction } from './transactions.ts'

/** This class calls back after each statement. */
class WatchedStatements extends WritingStatements {
  readonly #onDone: () => Promise<void>

  constructor(sessions: StoreSessions, onDone: () => Promise<void>) {
    super(sessions.writers, (error) => sessions.noteFault(error))
    this.#onDone = onDone
  }

  override async run(...call: Parameters<WritingStatements['run']>): ReturnType<WritingStatements['run']> {
    const rows = await super.run(...call)
    await this.#onDone()
    return rows
  }
}

for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'renewal', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    it('A renewal asks again, a little later, for a row that was locked for a moment', async () => {
      const { url, ownerUrl } = await databases.migrated('renewal')
      const transactions = ['a', 'b'].map((gid) => aTransaction(gid))
      const store = await openPostgresStore({ url })
      for (const transaction of transactions) await store.create(transaction)
      const settings = {
        ...toSessionTimeouts({}),
        ...{ connectionsMax: 2, multiplexed: false, onEvent: () => undefined },
      }
      const sessions = new StoreSessions(toConnectionTarget(url, undefined), settings)
      await onLockedRow(ownerUrl, 'a', async (unlock) => {
        let runs = 0
        const watched = new WatchedStatements(sessions, async () => {
          runs += 1
          await unlock()
        })
        const { renewed, lost, now } = await renewLeases(watched, transactions, 60_000)
        expect([renewed.map(({ gid }) => gid), lost, runs]).toEqual([['b', 'a'], [], 2])
        // The instant is that of the first try, so that no lease ends before its owner expects.
        for (const { dueAt } of await store.readMany(transactions.map(({ gid }) => gid)))
          expect(dueAt).toBeGreaterThanOrEqual(now + 60_000)
      })
      await sessions.close()
      await store.close()
    })
  })
}
