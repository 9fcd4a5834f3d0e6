import { type PostgresServer, startPostgres, startPostgres18 } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import type { PostgresStore } from '../src/postgres-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { TestDatabases } from './test-database.ts'
import { asGid, aTransaction, makeGids, makeUpdate } from './transactions.ts'

const START = { postgres: startPostgres, postgres18: startPostgres18 } as const
const KILLS = 3
const CALLERS = 16
const CREATES_BEFORE_KILL = 200
/** The server keeps three for superusers, and the rest is for the store and the crowd. */
const CONNECTIONS_MAX = 30

for (const kind of ['postgres', 'postgres18'] as const) {
  describeOwn(kind, 'a server that fails', () => {
    let server: PostgresServer
    let databases: TestDatabases
    beforeAll(async () => {
      server = await START[kind]({ settings: [`--max_connections=${CONNECTIONS_MAX}`] })
      databases = new TestDatabases(server.url)
    }, 120_000)
    afterAll(() => server.stop())

    it('A server that takes only reads takes no write, and goes on when it may write again', async () => {
      const { url } = await databases.migrated('read-only')
      const store = await openPostgresStore({ url })
      const first = aTransaction('first')
      await store.create(first)
      // Sessions that are open take the change with their next statement, as those of a server that became a standby.
      await databases.sql('ALTER SYSTEM SET default_transaction_read_only = on')
      await databases.sql('SELECT pg_reload_conf()')
      const readMode = () => databases.sql('SHOW default_transaction_read_only', url)
      await expect.poll(async () => (await readMode())[0]?.[0]).toBe('on')
      const writes = [
        store.create(aTransaction('second')),
        store.update(makeUpdate(first, { progress: 'new' })),
        store.renew([{ gid: first.gid, token: first.token }], 1_000),
        store.purgeFinished(1),
      ]
      await Promise.all(writes.map((write) => expectUnavailable(write, 'no')))
      await expectUnavailable(openPostgresStore({ url }), 'no')
      await databases.sql('ALTER SYSTEM RESET default_transaction_read_only')
      await databases.sql('SELECT pg_reload_conf()')
      await expect.poll(async () => (await readMode())[0]?.[0]).toBe('off')
      expect(await store.readMany([first.gid])).toMatchObject([{ progress: '{}', version: 1 }])
      expect(await store.create(aTransaction('second'))).toMatchObject({ type: 'created' })
      expect(await store.update(makeUpdate(first))).toMatchObject({ type: 'saved' })
      await store.close()
    })

    it('Writes fail for certain while the server has no connection left, and later succeed', async () => {
      const { url } = await databases.migrated('full')
      // The store has written nothing yet, so it has no connection that writes.
      const store = await openPostgresStore({ url })
      await whileCrowded(async () => {
        const creates = makeGids(300).map((gid) => store.create(aTransaction(gid)))
        await Promise.all(creates.map((create) => expectUnavailable(create, 'no')))
        expect(store.counters().retries).toBeGreaterThanOrEqual(5)
      })
      expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      await store.close()
    })

    it('Open connections do the work while the server takes no further one', async () => {
      const { url, name } = await databases.migrated('crowded')
      const store = await openPostgresStore({ url, batchRowsMax: 10, flushPatienceMs: 0 })
      await store.create(aTransaction('first'))
      await whileCrowded(async () => {
        const ours = `SELECT count(*) FROM pg_stat_activity WHERE usename = '${name}'`
        const before = await databases.sql(ours)
        const creates = await Promise.all(makeGids(300).map((gid) => store.create(aTransaction(gid))))
        for (const create of creates) expect(create).toMatchObject({ type: 'created' })
        expect(await databases.sql(ours)).toEqual(before)
      })
      await store.close()
    })

    it('A server that is killed under load loses nothing that was acknowledged', {
      timeout: 120_000,
    }, async () => {
      const { url } = await databases.migrated('killed')
      const store = await openPostgresStore({ url })
      const acknowledged = new Set<string>()
      const unknown = new Set<string>()
      for (let round = 0; round < KILLS; round++) {
        let stops = false
        const write = async (caller: number) => {
          for (let i = 0; !stops; i++) {
            const gid = `${round}-${caller}-${i}`
            try {
              await store.create(aTransaction(gid))
              acknowledged.add(gid)
            } catch (error: unknown) {
              expect(error).toMatchObject({ code: 'SAGA_STORE_UNAVAILABLE' })
              if ((error as { applied: string }).applied === 'unknown') unknown.add(gid)
              stops = true
            }
          }
        }
        const writing = Promise.all(Array.from({ length: CALLERS }, (_, caller) => write(caller)))
        const before = acknowledged.size
        await expect
          .poll(() => acknowledged.size - before, { timeout: 20_000 })
          .toBeGreaterThan(CREATES_BEFORE_KILL)
        await server.kill()
        await writing
        await server.restart()
      }
      const present = new Set(await presentGids(store, [...acknowledged, ...unknown]))
      expect([...acknowledged].filter((gid) => !present.has(gid))).toEqual([])
      expect(acknowledged.size).toBeGreaterThan(KILLS * CREATES_BEFORE_KILL)
      await store.close()
    })

    it('A crash of one of the server’s processes, after which it recovers, loses nothing', async () => {
      const { url, name } = await databases.migrated('crashed')
      const store = await openPostgresStore({ url })
      const rows = makeGids(50).map((gid) => aTransaction(gid))
      await Promise.all(rows.map((row) => store.create(row)))
      const own = await databases.sql(`SELECT pid FROM pg_stat_activity WHERE usename = '${name}'`)
      const pids = own.map(([pid]) => Number(pid))
      expect(pids.length).toBeGreaterThan(1)
      // The server ends all sessions and recovers from its log when one of its processes has died so. Until then the others still work.
      process.kill(pids[0] ?? 0, 'SIGKILL')
      await expect.poll(() => pids.filter(isRunning), { timeout: 20_000 }).toEqual([])
      const after = aTransaction('after')
      await expect
        .poll(() => store.create(after).catch(() => undefined), { timeout: 20_000 })
        .toMatchObject({ type: 'created' })
      expect(await presentGids(store, makeGids(50))).toHaveLength(50)
      await store.close()
    })

    it('The store goes on after a clean restart of its server', async () => {
      const { url } = await databases.migrated('restarted')
      const store = await openPostgresStore({ url })
      await store.create(aTransaction('a'))
      await store.stats()
      await server.restart()
      expect(await store.create(aTransaction('b'))).toMatchObject({ type: 'created' })
      expect(await presentGids(store, ['a', 'b'])).toHaveLength(2)
      await store.close()
    })

    it('Every call to a paused server ends in a bounded time, and work resumes by itself', async () => {
      const { url } = await databases.migrated('paused')
      const store = await openPostgresStore({ url, statementTimeoutMs: 3_000, connectTimeoutMs: 500 })
      await store.create(aTransaction('a'))
      await server.pause()
      const startedAt = performance.now()
      const transactions = makeGids(300).map((gid) => aTransaction(gid))
      const creates = transactions.map((transaction) => store.create(transaction))
      // One batch takes the open connection, and no connection can be made for the other.
      const [sent, unsent] = [creates.slice(0, 200), creates.slice(200)]
      await Promise.all([
        ...sent.map((create) => expectUnavailable(create, 'unknown')),
        ...unsent.map((create) => expectUnavailable(create, 'no')),
      ])
      await expectUnavailable(store.stats(), 'no')
      expect(performance.now() - startedAt).toBeLessThan(15_000)
      await server.resume()
      const later = aTransaction('b')
      await expect
        .poll(() => store.create(later).catch(() => undefined), { timeout: 10_000 })
        .toMatchObject({ type: 'created' })
      const again = transactions.slice(0, 200).map((transaction) => store.create(transaction))
      for (const created of await Promise.all(again)) expect(created).toMatchObject({ type: 'created' })
      expect(await presentGids(store, makeGids(300).slice(200))).toEqual([])
      await store.close()
    })

    /** Runs the work while others hold each connection that the store does not have, but those kept for superusers. */
    async function whileCrowded(test: () => Promise<void>): Promise<void> {
      const { url } = await databases.migrated('crowd')
      const crowd: pg.Client[] = []
      try {
        for (;;) {
          const client = new pg.Client({ connectionString: url })
          client.on('error', (error) => error)
          const refusal: unknown = await client.connect().then(
            () => undefined,
            (error: unknown) => error,
          )
          if (refusal !== undefined) {
            expect(refusal).toMatchObject({ code: '53300' })
            break
          }
          crowd.push(client)
        }
        await test()
      } finally {
        await Promise.all(crowd.map((client) => client.end()))
        const others = "SELECT count(*) FROM pg_stat_activity WHERE usename LIKE '%crowd'"
        await expect.poll(async () => (await databases.sql(others))[0]?.[0]).toBe('0')
      }
    }
  })
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function presentGids(store: PostgresStore, gids: readonly string[]): Promise<readonly string[]> {
  const present: string[] = []
  for (let from = 0; from < gids.length; from += 500) {
    const rows = await store.readMany(gids.slice(from, from + 500).map(asGid))
    present.push(...rows.map(({ gid }) => gid))
  }
  return present
}
