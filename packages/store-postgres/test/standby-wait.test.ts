import { type PostgresServer, startPostgres, startPostgres18 } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import type { PostgresStore } from '../src/postgres-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { TestDatabases } from './test-database.ts'
import { asGid, aTransaction, drawToken, makeGids, makeUpdate } from './transactions.ts'

const START = { postgres: startPostgres, postgres18: startPostgres18 } as const
const WAITING = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
const DUE = { hold: { type: 'waiting', dueInMs: 0 } } as const
const TIMEOUTS = { statementTimeoutMs: 20_000 }

for (const kind of ['postgres', 'postgres18'] as const) {
  describeOwn(kind, 'a COMMIT that waits for a standby', () => {
    let server: PostgresServer
    let databases: TestDatabases
    let url: string
    let store: PostgresStore
    beforeAll(async () => {
      server = await START[kind]()
      databases = new TestDatabases(server.url)
      url = (await databases.migrated('standby')).url
      store = await openPostgresStore({ url, ...TIMEOUTS })
    }, 120_000)
    afterAll(async () => {
      await store.close()
      await server.stop()
    })

    /** Lets each COMMIT wait for a standby of this name, which does not exist. An empty name ends all waits. */
    async function waitForStandby(name: string): Promise<void> {
      await databases.sql(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
      await databases.sql('SELECT pg_reload_conf()')
      const readName = async () => (await databases.sql('SHOW synchronous_standby_names'))[0]?.[0]
      await expect.poll(readName).toBe(name)
    }

    /** Waits until a COMMIT waits for the standby, and then calls this function of the server with its process. */
    async function disturb(call: 'pg_cancel_backend' | 'pg_terminate_backend'): Promise<void> {
      await expect.poll(async () => (await databases.sql(`SELECT count(*) ${WAITING}`))[0]?.[0]).toBe('1')
      await databases.sql(`SELECT ${call}(pid) ${WAITING}`)
    }

    const writes: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
      'a create': async () => {
        const row = aTransaction(drawToken())
        return () => store.create(row)
      },
      'an update': async () => {
        const row = aTransaction(drawToken())
        await store.create(row)
        const update = makeUpdate(row, { progress: 'new' })
        return () => store.update(update)
      },
      'a document': async () => {
        const write = {
          category: 'kv',
          key: drawToken(),
          text: 'new',
          expectedVersion: 0,
          writeId: drawToken(),
        }
        return () => store.writeDocument(write)
      },
    }
    for (const [name, prepare] of Object.entries(writes)) {
      it(`The outcome of ${name} is unknown when its wait is cancelled, and the same write sent again lands once`, async () => {
        const write = await prepare()
        await waitForStandby('nobody')
        const cancelled = expectUnavailable(write(), 'unknown')
        await disturb('pg_cancel_backend')
        await cancelled
        await waitForStandby('')
        expect(await write()).toMatchObject({ type: expect.stringMatching(/^(created|saved|written)$/) })
      })
    }

    it('The outcome of each row of a flush is unknown when the wait of the flush is cancelled', async () => {
      const rows = makeGids(20).map((gid) => aTransaction(gid))
      await waitForStandby('nobody')
      const creates = rows.map((row) => expectUnavailable(store.create(row), 'unknown'))
      await disturb('pg_cancel_backend')
      await Promise.all(creates)
      await waitForStandby('')
      const again = await Promise.all(rows.map((row) => store.create(row)))
      expect(new Set(again.map(({ type }) => type))).toEqual(new Set(['created']))
      expect(await store.readMany(rows.map(({ gid }) => gid))).toHaveLength(20)
    })

    it('The outcome of a claim is unknown when its wait is cancelled', async () => {
      const row = aTransaction('claimed', DUE)
      await store.create(row)
      await waitForStandby('nobody')
      const claim = store.claim({ gid: row.gid, token: drawToken(), leaseMs: 1, formatMax: 1 })
      const cancelled = expectUnavailable(claim, 'unknown')
      await disturb('pg_cancel_backend')
      await cancelled
      await waitForStandby('')
    })

    it('A write whose connection ends while it waits is acknowledged only when its standby has it', async () => {
      const row = aTransaction('ended')
      await waitForStandby('nobody')
      let isAcknowledged = false
      const create = store.create(row).then((result) => {
        isAcknowledged = true
        return result
      })
      await disturb('pg_terminate_backend')
      // The row can be read from here on, and the store sends it again.
      await expect.poll(() => store.readMany([row.gid])).toHaveLength(1)
      await expect.poll(async () => (await databases.sql(`SELECT count(*) ${WAITING}`))[0]?.[0]).toBe('1')
      expect(isAcknowledged).toBe(false)
      await waitForStandby('')
      expect(await create).toMatchObject({ type: 'created' })
    })

    it('What a read has shown is settled only when the standby has it', async () => {
      const row = aTransaction('settled')
      await waitForStandby('nobody')
      const cancelled = expectUnavailable(store.create(row), 'unknown')
      await disturb('pg_cancel_backend')
      await cancelled
      expect(await store.readMany([row.gid])).toHaveLength(1)
      let isSettled = false
      const settling = store.settle().then(() => {
        isSettled = true
      })
      await expect.poll(async () => (await databases.sql(`SELECT count(*) ${WAITING}`))[0]?.[0]).toBe('1')
      expect(isSettled).toBe(false)
      await waitForStandby('')
      await settling
    })

    it('A failover loses nothing where each COMMIT waits for a standby, and the store says so', async () => {
      expect(store.failover).toBe('lossy')
      await waitForStandby('nobody')
      const waiting = await openPostgresStore({ url })
      expect([waiting.failover, waiting.durabilityClass]).toEqual(['lossless', 'A'])
      expect(await waiting.readMany([asGid('none')])).toEqual([])
      await waiting.close()
      await waitForStandby('')
    })
  })
}
