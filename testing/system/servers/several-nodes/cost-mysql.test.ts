import { type SqlServer, startMariadb, startMysql } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Fixture } from './fixture.ts'
import { runSagas } from './saga-callers.ts'
import { SqlCounters } from './sql-counters.ts'

const CALLERS = 64
const EACH = 15
const WARM_UP = 2
const ONE_BY_ONE = 10
const SLOWED_MAX = 0.2
const UNSLOWED_MAX = 0.5
/** Nothing but the sagas themselves writes meanwhile. */
const QUIET = { 'lease-ms': 600_000, 'poll-ms': 600_000 } as const

const SERVERS = {
  mariadb: {
    start: () => startMariadb(),
    transactions: (counters: SqlCounters) => counters.binlogCommits(),
    slow: ['binlog_commit_wait_count = 100000', 'binlog_commit_wait_usec = 3000'],
    unslow: ['binlog_commit_wait_count = 0', 'binlog_commit_wait_usec = 100000'],
  },
  mysql: {
    start: () => startMysql(),
    transactions: (counters: SqlCounters) => counters.gtids(),
    slow: ['binlog_group_commit_sync_delay = 3000'],
    unslow: ['binlog_group_commit_sync_delay = 0'],
  },
} as const

for (const kind of ['mariadb', 'mysql'] as const) {
  describeOwn(kind, `what a saga costs in database transactions`, () => {
    const { start, transactions, slow, unslow } = SERVERS[kind]
    let server: SqlServer
    let counters: SqlCounters
    let fixture: Fixture

    beforeAll(async () => {
      server = await start()
      counters = await SqlCounters.open(server)
      fixture = await Fixture.start(server.url, 1, QUIET)
      await runSagas(fixture, 'warm', { callers: CALLERS, each: WARM_UP, branches: 2 })
    })

    afterAll(async () => {
      await counters.close()
      await fixture.stop()
      await server.stop()
    })

    interface Cost {
      readonly perSaga: number
      readonly rowsEach: number
    }

    async function measureCost(word: string): Promise<Cost> {
      const [before, rowsBefore] = [await transactions(counters), await counters.rowsWritten()]
      await runSagas(fixture, word, { callers: CALLERS, each: EACH, branches: 2 })
      const done = (await transactions(counters)) - before
      const rows = (await counters.rowsWritten()) - rowsBefore
      process.stdout.write(
        `${kind} ${word}: ${CALLERS * EACH} sagas by ${CALLERS} callers, ${done} database transactions: ${(done / (CALLERS * EACH)).toFixed(3)} per saga, ${(rows / done).toFixed(1)} rows in each\n`,
      )
      return { perSaga: done / (CALLERS * EACH), rowsEach: rows / done }
    }

    it(`A saga costs less than ${SLOWED_MAX} database transactions with ${CALLERS} callers when each flush takes 3 ms`, async () => {
      for (const assignment of slow) await counters.set(assignment)
      const { perSaga } = await measureCost('slowed')
      for (const assignment of unslow) await counters.set(assignment)
      expect(perSaga).toBeLessThan(SLOWED_MAX)
      // Less than one transaction for all of them would mean that nothing was counted.
      expect(perSaga).toBeGreaterThan(0)
    })

    it(`A saga costs less than ${UNSLOWED_MAX} database transactions with ${CALLERS} callers`, async () => {
      const { perSaga } = await measureCost('unslowed')
      expect(perSaga).toBeLessThan(UNSLOWED_MAX)
      expect(perSaga).toBeGreaterThan(0)
    })

    it('A saga costs the same for 2 branches as for 20, in transactions and in rows', async () => {
      const costs: { readonly done: number; readonly rows: number }[] = []
      for (const branches of [2, 20]) {
        const [before, rowsBefore] = [await transactions(counters), await counters.rowsWritten()]
        await runSagas(fixture, `with-${branches}`, { callers: 1, each: ONE_BY_ONE, branches })
        costs.push({
          done: (await transactions(counters)) - before,
          rows: (await counters.rowsWritten()) - rowsBefore,
        })
      }
      const [two, twenty] = costs
      process.stdout.write(
        `${kind}: ${ONE_BY_ONE} sagas with 2 branches: ${JSON.stringify(two)}; with 20: ${JSON.stringify(twenty)}\n`,
      )
      expect(twenty).toEqual(two)
      expect(two?.done).toBe(2 * ONE_BY_ONE)
    })
  })
}
