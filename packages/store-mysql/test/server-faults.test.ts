import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { StoreEvent } from '@counterstep/core'
import { type SqlServer, startMariadb, startMysql } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MysqlStore } from '../src/mysql-store.ts'
import { openMysqlStore } from '../src/open-mysql-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { type TestDatabase, TestDatabases } from './test-database.ts'
import { asGid, aTransaction, makeGids, makeUpdate } from './transactions.ts'

const START = { mariadb: startMariadb, mysql: startMysql } as const
const KILLS = 3
const CALLERS = 16
const CREATES_BEFORE_KILL = 200
const TOO_MANY_CONNECTIONS = 1_040

for (const kind of ['mariadb', 'mysql'] as const) {
  describeOwn(kind, 'a server that fails', () => {
    let server: SqlServer
    let databases: TestDatabases
    beforeAll(async () => {
      server = await START[kind]()
      databases = new TestDatabases(server.url)
    }, 120_000)
    afterAll(() => server.stop())

    // MySQL has no lock for the COMMIT alone. This one keeps every COMMIT of the server waiting.
    if (kind === 'mariadb') {
      it('The outcome is open for the rows of a COMMIT that hangs, and no row waits for it a second time', async () => {
        const { url, rootUrl } = await databases.migrated('hanging-commit')
        const store = await openMysqlStore({ url, statementTimeoutMs: 3_000 })
        const other = await createConnection({ uri: rootUrl })
        const transactions = makeGids(10).map((gid) => aTransaction(gid))
        await store.create(aTransaction('first'))
        await other.query('BACKUP STAGE START')
        await other.query('BACKUP STAGE BLOCK_COMMIT')
        const startedAt = performance.now()
        const creates = transactions.map((transaction) => store.create(transaction))
        await Promise.all(creates.map((create) => expectUnavailable(create, 'unknown')))
        expect(performance.now() - startedAt).toBeLessThan(5_500)
        await other.query('BACKUP STAGE END')
        for (const transaction of transactions) {
          expect(await store.create(transaction)).toMatchObject({ type: 'created' })
        }
        other.destroy()
        await store.close()
      })
    }

    it('A former primary takes no write, and goes on when it may write again', async () => {
      const store = await openMysqlStore({ url: (await databases.migrated('read-only')).url })
      const first = aTransaction('first')
      await store.create(first)
      await databases.sql('SET GLOBAL read_only = 1')
      const writes = [
        store.create(aTransaction('second')),
        store.update(makeUpdate(first, { progress: 'new' })),
        store.renew([{ gid: first.gid, token: first.token }], 1_000),
        store.purgeFinished(1),
      ]
      await Promise.all(writes.map((write) => expectUnavailable(write, 'no')))
      expect(await store.readMany([first.gid])).toMatchObject([{ progress: '{}', version: 1 }])
      await databases.sql('SET GLOBAL read_only = 0')
      expect(await store.create(aTransaction('second'))).toMatchObject({ type: 'created' })
      expect(await store.update(makeUpdate(first))).toMatchObject({ type: 'saved' })
      await store.close()
    })

    it('A former primary commits nothing for a user whom read_only does not keep from writing', async () => {
      const store = await openMysqlStore({ url: (await databases.migrated('read-only-root')).rootUrl })
      const first = aTransaction('first')
      await store.create(first)
      await databases.sql('SET GLOBAL read_only = 1')
      const writes = [
        store.create(aTransaction('second')),
        store.update(makeUpdate(first, { progress: 'new' })),
      ]
      await Promise.all(writes.map((write) => expectUnavailable(write, 'no')))
      await databases.sql('SET GLOBAL read_only = 0')
      expect(await store.readMany(['first', 'second'].map(asGid))).toMatchObject([
        { progress: '{}', version: 1 },
      ])
      await store.close()
    })

    it('A write that waited while its server became a former primary is not committed', async () => {
      const { url, rootUrl, name } = await databases.migrated('read-only-meanwhile')
      await (await openMysqlStore({ url })).close()
      const store = await openMysqlStore({ url: rootUrl, statementTimeoutMs: 20_000 })
      const [first, second] = ['first', 'second'].map((gid) => aTransaction(gid))
      if (first === undefined || second === undefined) throw new Error('no rows')
      await store.create(first)
      const failover = await createConnection({ uri: rootUrl })
      const dueAt = () => readCount(failover, `SELECT due_at FROM ${name}.counterstep_transactions`)
      const dueAtFirst = await dueAt()
      const waiting = `SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = '${name}' AND STATE LIKE 'Waiting for%'`
      for (const write of [
        () => store.create(second),
        () => store.update(makeUpdate(first, { progress: 'new' })),
        () => Promise.all([store.create(second), store.update(makeUpdate(first, { progress: 'new' }))]),
        // These writes go step by step, and have read read_only before they wait.
        () => store.renew([{ gid: first.gid, token: first.token }], 1_000_000),
        () =>
          store.writeDocument({ category: 'kv', key: 'a', text: 'new', expectedVersion: 0, writeId: 'w' }),
      ]) {
        await failover.query('FLUSH TABLES WITH READ LOCK')
        const written = expectUnavailable(write(), 'no')
        await expect.poll(() => readCount(failover, waiting)).toBe(1)
        await failover.query('SET GLOBAL read_only = 1')
        await failover.query('UNLOCK TABLES')
        await written
        await failover.query('SET GLOBAL read_only = 0')
      }
      expect(await store.readMany(['first', 'second'].map(asGid))).toMatchObject([
        { progress: '{}', version: 1 },
      ])
      expect(await dueAt()).toBe(dueAtFirst)
      expect(await store.readDocuments('kv')).toEqual([])
      failover.destroy()
      await store.close()
    })

    it('Writes fail for certain while the server has no connection left, and later succeed', async () => {
      const database = await databases.migrated('full')
      // The store has written nothing yet, so it has no connection that writes.
      const store = await openMysqlStore({ url: database.url })
      await whileCrowded(database, async () => {
        const creates = makeGids(300).map((gid) => store.create(aTransaction(gid)))
        await Promise.all(creates.map((create) => expectUnavailable(create, 'no')))
        expect(store.counters().retries).toBeGreaterThanOrEqual(5)
      })
      expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      await store.close()
    })

    it('Open connections do the work while the server takes no further one', async () => {
      const database = await databases.migrated('crowded')
      const store = await openMysqlStore({ url: database.url, batchRowsMax: 10, flushPatienceMs: 0 })
      await store.create(aTransaction('first'))
      await whileCrowded(database, async (root) => {
        const ours = `SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = '${database.name}' AND USER <> 'root'`
        const before = await readCount(root, ours)
        const creates = await Promise.all(makeGids(300).map((gid) => store.create(aTransaction(gid))))
        for (const create of creates) expect(create).toMatchObject({ type: 'created' })
        expect(await readCount(root, ours)).toBe(before)
      })
      await store.close()
    })

    it('The server gets a goodbye from each connection, and notes no lost client', async () => {
      const { url, rootUrl } = await databases.migrated('goodbye')
      const root = await createConnection({ uri: rootUrl })
      const sessions =
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'root' OR USER LIKE 'cs%'"
      const lostClients = async () => (await root.query("SHOW GLOBAL STATUS LIKE 'Aborted_clients'"))[0]
      await expect.poll(() => readCount(root, sessions)).toBe(1)
      const before = await lostClients()
      const store = await openMysqlStore({ url })
      await store.create(aTransaction('a'))
      await store.stats()
      await store.close()
      await expect.poll(() => readCount(root, sessions)).toBe(1)
      expect(await lostClients()).toEqual(before)
      root.destroy()
    })

    it('A server that is killed under load loses nothing that was acknowledged', {
      timeout: 120_000,
    }, async () => {
      const { url } = await databases.migrated('killed')
      const store = await openMysqlStore({ url, connectTimeoutMs: 500 })
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
      expect([...present].filter((gid) => !acknowledged.has(gid) && !unknown.has(gid))).toEqual([])
      expect(acknowledged.size).toBeGreaterThan(KILLS * CREATES_BEFORE_KILL)
      await store.close()
    })

    it('Every call to a paused server ends in a bounded time, and work resumes by itself', async () => {
      const store = await openMysqlStore({ url: (await databases.migrated('paused')).url })
      await store.create(aTransaction('a'))
      await server.pause()
      const startedAt = performance.now()
      const transactions = makeGids(300).map((gid) => aTransaction(gid))
      const creates = transactions.map((transaction) => store.create(transaction))
      // One batch takes the open connection, and no connection can be made for the other.
      const [sent, unsent] = [creates.slice(0, 200), creates.slice(200)]
      await Promise.all(sent.map((create) => expectUnavailable(create, 'unknown')))
      await Promise.all(unsent.map((create) => expectUnavailable(create, 'no')))
      expect(performance.now() - startedAt).toBeLessThan(3_000)
      await expectUnavailable(store.create(aTransaction('b')), 'no')
      await server.resume()
      const resumedAt = performance.now()
      expect(await store.create(aTransaction('b'))).toMatchObject({ type: 'created' })
      expect(performance.now() - resumedAt).toBeLessThan(2_000)
      const again = transactions.slice(0, 200).map((transaction) => store.create(transaction))
      for (const created of await Promise.all(again)) expect(created).toMatchObject({ type: 'created' })
      expect(await presentGids(store, makeGids(300).slice(200))).toEqual([])
      await store.close()
    })

    describe('settings that lose what was acknowledged', () => {
      const settings = [
        ['innodb_flush_log_at_trx_commit = 2', 'B'],
        ['sync_binlog = 0', 'B'],
        ['sync_binlog = 100', 'B'],
        ['innodb_flush_log_at_trx_commit = 0', 'C'],
      ] as const
      for (const [setting, expected] of settings) {
        it(`The store is class ${expected} on a server with the setting ${setting}`, async () => {
          const { url } = await databases.migrated('durability')
          const [name = ''] = setting.split(' ')
          await databases.sql(`SET GLOBAL ${setting}`)
          try {
            if (expected === 'C') {
              const refused = openMysqlStore({ url })
              await expect(refused).rejects.toMatchObject({ code: 'SAGA_STORE_NOT_DURABLE' })
              await expect(refused).rejects.toThrow(name)
            }
            const store = await openMysqlStore({ url, acceptClassC: true })
            expect(store.durabilityClass).toBe(expected)
            await store.close()
          } finally {
            await databases.sql(`SET GLOBAL ${name} = 1`)
          }
        })
      }
    })

    it('A server that flushes its log too rarely for class B is class C', async () => {
      const { url } = await databases.migrated('durability')
      await databases.sql('SET GLOBAL innodb_flush_log_at_trx_commit = 2')
      await databases.sql('SET GLOBAL innodb_flush_log_at_timeout = 3')
      try {
        await expect(openMysqlStore({ url })).rejects.toThrow('innodb_flush_log_at_timeout=3')
        await databases.sql('SET GLOBAL innodb_flush_log_at_timeout = 2')
        const store = await openMysqlStore({ url })
        expect(store.durabilityClass).toBe('B')
        await store.close()
      } finally {
        await databases.sql('SET GLOBAL innodb_flush_log_at_timeout = 1')
        await databases.sql('SET GLOBAL innodb_flush_log_at_trx_commit = 1')
      }
    })

    if (kind === 'mysql') {
      it('A server with its redo log disabled is class C', async () => {
        const { url } = await databases.migrated('durability')
        await databases.sql('ALTER INSTANCE DISABLE INNODB REDO_LOG')
        try {
          await expect(openMysqlStore({ url })).rejects.toThrow('Innodb_redo_log_enabled=OFF')
        } finally {
          await databases.sql('ALTER INSTANCE ENABLE INNODB REDO_LOG')
        }
        await (await openMysqlStore({ url })).close()
      })
    }

    it('The store reports when another server has taken the place of its own', {
      timeout: 60_000,
    }, async () => {
      const other = await START[kind]()
      const otherDatabases = new TestDatabases(other.url)
      const places = [await databases.empty('taken'), await otherDatabases.empty('taken')]
      const relay = await startRelay(server.port)
      const events: StoreEvent[] = []
      const url = new URL(places[0]?.rootUrl ?? '')
      url.port = String(relay.port)
      const store = await openMysqlStore({ url: url.href, onEvent: (event) => events.push(event) })
      await otherDatabases.sql(`CREATE DATABASE ${places[0]?.name}`)
      url.port = String(other.port)
      await (await openMysqlStore({ url: url.href })).close()
      await store.create(aTransaction('a'))
      relay.leadTo(server.port)
      await store.stats()
      expect(events).toEqual([])
      relay.leadTo(other.port)
      expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      await store.stats()
      expect(events).toMatchObject([{ level: 'warn', name: 'store-server-changed' }])
      expect(events[0]?.detail).toContain('class A')
      await store.close()
      relay.close()
      await other.stop()
    })
  })
}

async function readCount(connection: Connection, sql: string): Promise<number> {
  const [rows] = await connection.query<RowDataPacket[][]>({ sql, rowsAsArray: true })
  return Number(rows[0]?.[0])
}

/** Runs the work while the test holds every connection that the store does not have, including the administrator's. */
async function whileCrowded(
  { rootUrl, name }: TestDatabase,
  test: (root: Connection) => Promise<void>,
): Promise<void> {
  const root = await createConnection({ uri: rootUrl })
  const crowd: Connection[] = []
  const others = `SELECT COUNT(*) FROM information_schema.PROCESSLIST
    WHERE (USER = 'root' OR USER LIKE 'cs%') AND (DB IS NULL OR DB <> '${name}')`
  try {
    // The connections of earlier tests have said goodbye, and leave room once they have ended.
    await expect.poll(() => readCount(root, others)).toBe(0)
    await root.query('SET GLOBAL max_connections = 10')
    await fill(crowd, rootUrl)
    await test(root)
  } finally {
    await root.query('SET GLOBAL max_connections = 300')
    for (const connection of [root, ...crowd]) connection.destroy()
  }
}

async function fill(crowd: Connection[], url: string): Promise<void> {
  for (;;) {
    try {
      crowd.push(await createConnection({ uri: url }))
    } catch (error: unknown) {
      expect(error).toMatchObject({ errno: TOO_MANY_CONNECTIONS })
      return
    }
  }
}

async function presentGids(store: MysqlStore, gids: readonly string[]): Promise<readonly string[]> {
  const present: string[] = []
  for (let from = 0; from < gids.length; from += 500) {
    const rows = await store.readMany(gids.slice(from, from + 500).map(asGid))
    present.push(...rows.map(({ gid }) => gid))
  }
  return present
}

/** Starts an address that leads to one server and then to another, like a host name after a failover. */
async function startRelay(firstPort: number) {
  let port = firstPort
  const sockets = new Set<Socket>()
  const relay: Server = createServer((client) => {
    const target = connect(port, '127.0.0.1')
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    }
    client.pipe(target).pipe(client)
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  const address = relay.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    leadTo(next: number) {
      port = next
      for (const socket of sockets) socket.destroy()
    },
    close() {
      relay.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
