import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PgbouncerServer, ServerFailedError, startPgbouncer } from '../src/index.ts'
import { listProcesses } from '../src/processes/list-processes.ts'
import { describeOn, describeOwn } from '../src/vitest/describe-on.ts'
import { ask, onClient, onFreshDatabase, withUser } from './connect-postgres.ts'

for (const kind of ['postgres', 'postgres18', 'pgbouncer'] as const) {
  describeOn(kind, 'a fresh database', (url) => {
    it('A test makes a database of its own and drops it, also where connections to it are open', async () => {
      const name = `fresh_${process.pid}_${kind}`
      await onFreshDatabase(url, name, async (fresh) => {
        await onClient(fresh, async (client) => {
          await client.query('CREATE TABLE notes (id int PRIMARY KEY)')
          await client.query('INSERT INTO notes VALUES ($1)', [1])
          expect((await client.query('SELECT current_database() AS name, id FROM notes')).rows).toEqual([
            { name, id: 1 },
          ])
        })
      })
      expect(await ask(url, `SELECT 1 FROM pg_database WHERE datname = '${name}'`)).toEqual([])
    })
  })
}

describeOwn('pgbouncer', 'a pooler of its own', () => {
  let pooler: PgbouncerServer
  beforeAll(async () => {
    pooler = await startPgbouncer()
  })
  afterAll(() => pooler.stop())

  it('A PgBouncer says its version and its address, and is another process than its PostgreSQL', async () => {
    const console = new URL(pooler.url)
    console.pathname = '/pgbouncer'
    const [row] = await ask(console.href, 'SHOW VERSION')
    expect(String(row?.version)).toContain(pooler.version)
    expect(pooler.url).toBe(`postgres://postgres@127.0.0.1:${pooler.port}/postgres`)
    expect(pooler.port).not.toBe(pooler.postgres.port)
    expect(pooler.pid()).not.toBe(pooler.postgres.pid())
  })

  it('A PgBouncer gives the server connection to another client after each transaction', async () => {
    await onClient(pooler.url, async (one) => {
      await onClient(pooler.url, async (other) => {
        const backend = 'SELECT pg_backend_pid() AS pid'
        const [first] = (await one.query(backend)).rows
        expect((await other.query(backend)).rows).toEqual([first])
        await one.query('BEGIN')
        const [own] = (await one.query(backend)).rows
        expect((await other.query(backend)).rows).not.toEqual([own])
        await one.query('COMMIT')
      })
    })
  })

  it('A PgBouncer has lost a named statement in the next transaction of its client', async () => {
    await onClient(pooler.url, async (client) => {
      const named = { name: 'one', text: 'SELECT 1 AS one' }
      expect((await client.query(named)).rows).toEqual([{ one: 1 }])
      await expect(client.query(named)).rejects.toMatchObject({ code: '26000' })
      expect((await client.query('SELECT $1::int AS one', [1])).rows).toEqual([{ one: 1 }])
    })
  })

  it('A PgBouncer refuses a client that sends a parameter which it does not know', async () => {
    const url = `${pooler.url}?options=-c%20statement_timeout%3D1000`
    await expect(ask(url, 'SELECT 1')).rejects.toThrow('unsupported startup parameter: options')
  })

  it('A PgBouncer lets a user in only with the right password', async () => {
    await ask(pooler.url, "CREATE ROLE reader LOGIN PASSWORD 'p/a:s@s %'")
    const url = withUser(pooler.url, 'reader', 'p/a:s@s %')
    expect(await ask(url, 'SELECT current_user')).toEqual([{ current_user: 'reader' }])
    await expect(ask(withUser(pooler.url, 'reader', 'wrong'), 'SELECT 1')).rejects.toThrow('authentication')
  })

  it('A PgBouncer goes on after SIGKILL, on the same port, and its PostgreSQL has not noticed', async () => {
    const before = pooler.postgres.pid()
    await pooler.kill()
    await expect(ask(pooler.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await pooler.restart()
    expect(await ask(pooler.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect(pooler.postgres.pid()).toBe(before)
  })
})

describeOwn('pgbouncer', 'the start and the end of a pooler', () => {
  it('Given settings override those that a PgBouncer has by default, and its end leaves nothing', async () => {
    const pooler = await startPgbouncer({ settings: ['pool_mode = session'] })
    await onClient(pooler.url, async (client) => {
      const named = { name: 'one', text: 'SELECT 1 AS one' }
      for (const _time of [1, 2]) expect((await client.query(named)).rows).toEqual([{ one: 1 }])
      const [row] = (await client.query('SHOW data_directory')).rows
      const pids = [pooler.pid(), pooler.postgres.pid()]
      // It does not wait for its clients.
      await pooler.stop()
      expect(existsSync(dirname(String(row?.data_directory)))).toBe(false)
      expect(listProcesses().filter(({ pid }) => pids.includes(pid))).toEqual([])
    })
    await expect(ask(pooler.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await expect(ask(pooler.postgres.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('The start of a PgBouncer that dies fails with the end of its log', async () => {
    const starting = startPgbouncer({ settings: ['no_such_setting = 1'] })
    await expect(starting).rejects.toThrow(ServerFailedError)
    await expect(starting).rejects.toThrow('no_such_setting')
  })
})
