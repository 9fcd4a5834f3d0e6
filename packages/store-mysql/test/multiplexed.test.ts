import { storeConformance } from '@counterstep/store-conformance'
import { toSessionTimeouts } from '@counterstep/store-sql'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openMysqlStore } from '../src/open-mysql-store.ts'
import { toConnectionTarget } from '../src/sessions/connection-target.ts'
import { openSession } from '../src/sessions/open-session.ts'
import { createSingleStatements } from '../src/transactions/single-statements.ts'
import { findPinning, withoutLiterals } from './pinning.ts'
import { type Command, type RecordingProxy, startRecordingProxy } from './recording-proxy.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, drawToken, makeGids, makeUpdate } from './transactions.ts'

const QUERY = 3
/** `findPinning` gives this reason for a long statement, as the suite's large definitions and documents need. */
const LONG = 'its length'

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'the store through a proxy that lends connections', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    let proxy: RecordingProxy
    beforeAll(async () => {
      proxy = await startRecordingProxy(serverUrl)
    })
    afterAll(() => proxy.close())

    async function open(place: string, multiplexed = true) {
      const { url } = await databases.migrated(place)
      return openMysqlStore({ url: proxy.through(url), multiplexed })
    }

    // The contract holds on both without a proxy. Such proxies stand before MySQL, and one whole run of it takes minutes.
    if (server === 'mysql') {
      storeConformance({
        runner: { describe, it, before: beforeAll, after: afterAll },
        name: `${server}, multiplexed`,
        open: ({ place }) => open(place),
      })

      it('The store has sent nothing that pins a connection of a proxy, except single rows over 16 KiB', () => {
        expect(proxy.commands.length).toBeGreaterThan(1_000)
        const pinning = proxy.commands.flatMap((command) => {
          const reason = findPinning(command)
          const isAllowed = reason === undefined || (reason === LONG && isOneRow(command))
          return isAllowed ? [] : [[reason, head(command)]]
        })
        expect(pinning).toEqual([])
      })
    }

    it('Many rows are divided, in each method, among statements that do not pin', async () => {
      const store = await open('many')
      proxy.forget()
      const transactions = makeGids(500).map((gid) => aTransaction(`${gid}-${'g'.repeat(110)}`))
      const definition = JSON.stringify({ text: 'éLAST_INSERT_ID()\0;'.repeat(150) })
      const created = await Promise.all(transactions.map((row) => store.create({ ...row, definition })))
      expect(new Set(created.map(({ type }) => type))).toEqual(new Set(['created']))
      const gids = transactions.map(({ gid }) => gid)
      const read = await store.readMany(gids)
      expect(read).toHaveLength(500)
      expect(new Set(read.map((row) => row.definition))).toEqual(new Set([definition]))
      expect((await store.renew(transactions, 60_000)).renewed).toHaveLength(500)
      const hold = { type: 'release', dueAt: 0 } as const
      const change = { progress: definition, hold, attention: true }
      const released = await Promise.all(
        transactions.map((row, i) => store.update(makeUpdate(row, { ...change, retrying: i % 2 === 0 }))),
      )
      expect(new Set(released.map(({ type }) => type))).toEqual(new Set(['saved']))
      const tokens = Array.from({ length: 100 }, drawToken)
      const { claimed } = await store.claimDue({ limit: 100, leaseMs: 60_000, tokens, formatMax: 1 })
      expect(claimed).toHaveLength(100)
      const postponed = await store.postponeDue({ limit: 500, byMs: 60_000, formatMax: 1 })
      expect(postponed.gids).toHaveLength(400)
      // No row is as its writer knows it, so all are read back.
      const late = await Promise.all(transactions.map((row) => store.update(makeUpdate(row))))
      expect(late.filter(({ type }) => type === 'fenced')).toHaveLength(100)
      expect(late.filter(({ type }) => type === 'conflict')).toHaveLength(400)
      // The same gid is sent again with another body, so the existing row is read.
      const again = await Promise.all(transactions.map((row) => store.create({ ...row, token: drawToken() })))
      expect(new Set(again.map(({ type }) => type))).toEqual(new Set(['exists']))
      const known = await store.readMany(gids)
      const end = { status: 'succeeded', hold: { type: 'finish', retentionMs: 0 } } as const
      const finished = await Promise.all(
        known.map((row) => store.update({ ...makeUpdate(row), version: row.version, ...end })),
      )
      expect(new Set(finished.map(({ type }) => type))).toEqual(new Set(['saved']))
      expect(await store.purgeFinished(1_000)).toEqual({ purged: 500 })
      await store.close()
      const sent = proxy.commands.filter(({ code }) => code === QUERY)
      expect(sent.map(findPinning).filter((reason) => reason !== undefined)).toEqual([])
      const longest = Math.max(...sent.map(({ text }) => Buffer.byteLength(text)))
      process.stdout.write(`${server}: ${sent.length} statements, the longest of ${longest} bytes\n`)
    })

    it('Each of the two writes of a saga takes three round trips through a proxy, and one on a separate connection', async () => {
      for (const [multiplexed, roundTrips] of [
        [true, [3, 3]],
        [false, [1, 1]],
      ] as const) {
        const store = await open('trips', multiplexed)
        const count = async (work: Promise<unknown>) => {
          proxy.forget()
          await work
          return proxy.commands.length
        }
        await store.create(aTransaction(`warm-${multiplexed}`))
        const saga = aTransaction(`saga-${multiplexed}`)
        const created = await count(store.create(saga))
        const hold = { type: 'finish', retentionMs: 1_000 } as const
        const updated = await count(store.update(makeUpdate(saga, { status: 'succeeded', hold })))
        const on = multiplexed ? 'multiplexed' : 'direct'
        process.stdout.write(
          `${server}, ${on}: round trips of a saga: create ${created}, update ${updated}\n`,
        )
        expect([created, updated]).toEqual(roundTrips)
        // The recorder does find commands that pin on a separate connection.
        const pinned = proxy.commands.some((command) => findPinning(command) === 'a user variable')
        expect(pinned).toBe(!multiplexed)
        await store.close()
      }
    })

    it('The store says which user makes the tables, and makes none itself', async () => {
      const { rootUrl } = await databases.empty('no-tables')
      proxy.forget()
      const refused = openMysqlStore({ url: proxy.through(rootUrl), multiplexed: true })
      await expect(refused).rejects.toMatchObject({ code: 'SAGA_STORE_SCHEMA' })
      await expect(refused).rejects.toThrow('counterstep migrate')
      expect(proxy.commands.map(findPinning).filter((reason) => reason !== undefined)).toEqual([])
    })

    it('No transaction begins on a session that has lost its settings', async () => {
      const { url } = await databases.migrated('lost-settings')
      const target = toConnectionTarget(url, 'off', 2_000)
      const settings = { ...toSessionTimeouts({}), autocommit: false, multiplexed: true }
      for (const change of [
        undefined,
        'SET autocommit = 1',
        "SET sql_mode = 'NO_BACKSLASH_ESCAPES'",
        'SET NAMES latin1',
        'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
      ]) {
        const { session, variables } = await openSession(target, settings)
        if (change !== undefined) await session.run(change)
        const begun = createSingleStatements(variables).begin(session, 2_000)
        if (change === undefined) await expect(begun).resolves.toMatchObject([expect.any(Number), 0, 0])
        else await expect(begun).rejects.toMatchObject({ fault: 'unavailable' })
        expect(session.isBroken).toBe(change !== undefined)
        session.destroy()
      }
    })
  })
}

/** The statement holds one row, so no smaller one could have been sent. */
function isOneRow({ text }: Command): boolean {
  return !/\) ?, \(|UNION ALL|THEN \S+\s+WHEN/.test(withoutLiterals(text))
}

function head({ text }: Command): string {
  return text.slice(0, 200)
}
