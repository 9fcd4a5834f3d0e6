import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PostgresServer, ServerFailedError, startPostgres, startPostgres18 } from '../src/index.ts'
import { listProcesses } from '../src/processes/list-processes.ts'
import { describeOwn } from '../src/vitest/describe-on.ts'
import { ask, onClient, withUser } from './connect-postgres.ts'

/** In this time a running server would have answered. */
const SILENCE_MS = 300

async function setting(url: string, name: string): Promise<unknown> {
  return (await ask(url, `SHOW ${name}`))[0]?.[name]
}

function findChildren(server: PostgresServer): readonly number[] {
  return listProcesses()
    .filter(({ parent }) => parent === server.pid())
    .map(({ pid }) => pid)
}

for (const [kind, start] of [
  ['postgres', startPostgres],
  ['postgres18', startPostgres18],
] as const) {
  describeOwn(kind, 'a server of its own', () => {
    let server: PostgresServer
    beforeAll(async () => {
      server = await start()
      await ask(server.url, 'CREATE TABLE notes (id int PRIMARY KEY)')
    })
    afterAll(() => server.stop())

    it('A PostgreSQL says its version and its address', async () => {
      expect(await setting(server.url, 'server_version')).toBe(server.version)
      if (kind === 'postgres18') expect(server.version).toMatch(/^18\./)
      expect(server.url).toBe(`postgres://postgres@127.0.0.1:${server.port}/postgres`)
    })

    it('A PostgreSQL is durable and bounded, and does not listen to other machines', async () => {
      const wanted = {
        fsync: 'on',
        synchronous_commit: 'on',
        full_page_writes: 'on',
        max_connections: '200',
        listen_addresses: '127.0.0.1',
        unix_socket_directories: '',
        server_encoding: 'UTF8',
      }
      const settings: Record<string, unknown> = {}
      for (const name of Object.keys(wanted)) settings[name] = await setting(server.url, name)
      expect(settings).toEqual(wanted)
    })

    it('A PostgreSQL lets a user in only with the right password', async () => {
      await ask(server.url, "CREATE ROLE reader LOGIN PASSWORD 'p/a:s@s %'")
      const url = withUser(server.url, 'reader', 'p/a:s@s %')
      expect(await ask(url, 'SELECT current_user')).toEqual([{ current_user: 'reader' }])
      const wrong = ask(withUser(server.url, 'reader', 'wrong'), 'SELECT 1')
      await expect(wrong).rejects.toMatchObject({ code: '28P01' })
    })

    it('A PostgreSQL has its data after SIGKILL, on the same port, and no process of it is left', async () => {
      await ask(server.url, 'INSERT INTO notes VALUES (1)')
      const before = [server.pid(), ...findChildren(server)]
      await onClient(server.url, async (client) => {
        const [backend] = findChildren(server).filter((pid) => !before.includes(pid))
        expect(backend).toBeDefined()
        // A working child process does not check whether the first process still runs.
        const busy = client.query('SELECT pg_sleep(600)').catch((error: unknown) => error)
        await server.kill()
        expect(await busy).toBeInstanceOf(Error)
        const left = listProcesses().filter(({ pid }) => pid === backend || before.includes(pid))
        expect(left.filter(({ state }) => state !== 'Z')).toEqual([])
      })
      await expect(ask(server.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
      await server.restart()
      expect(before).not.toContain(server.pid())
      expect(await ask(server.url, 'SELECT id FROM notes')).toEqual([{ id: 1 }])
    })

    it('A PostgreSQL has its data after a clean restart, which waits for no client', async () => {
      await onClient(server.url, async (client) => {
        await server.restart()
        await expect(client.query('SELECT 1')).rejects.toThrow()
      })
      expect(await ask(server.url, 'SELECT id FROM notes')).toEqual([{ id: 1 }])
    })

    it('A paused PostgreSQL answers nothing on any connection, and goes on where it was', async () => {
      await onClient(server.url, async (client) => {
        await server.pause()
        let answers = 0
        const count = () => {
          answers += 1
        }
        const all = [client.query('SELECT 1').then(count), ask(server.url, 'SELECT 1').then(count)]
        await new Promise((resolve) => setTimeout(resolve, SILENCE_MS))
        expect(answers).toBe(0)
        await server.resume()
        await Promise.all(all)
      })
    })
  })

  describeOwn(kind, 'the start of a server', () => {
    it('Given settings override those that a PostgreSQL has by default', async () => {
      const server = await start({ settings: ['--max_connections=17', '--synchronous_commit=off'] })
      const values = [
        await setting(server.url, 'max_connections'),
        await setting(server.url, 'synchronous_commit'),
      ]
      await server.stop()
      expect(values).toEqual(['17', 'off'])
    })

    it('Each PostgreSQL gets a port and data of its own, and leaves nothing', async () => {
      const servers = await Promise.all([start(), start()])
      const data = await Promise.all(servers.map(({ url }) => setting(url, 'data_directory')))
      const pids = servers.flatMap((server) => [server.pid(), ...findChildren(server)])
      await Promise.all(servers.map((server) => server.stop()))
      expect(new Set(servers.map(({ port }) => port)).size).toBe(2)
      expect(new Set(data).size).toBe(2)
      expect(data.map((folder) => existsSync(dirname(String(folder))))).toEqual([false, false])
      expect(listProcesses().filter(({ pid }) => pids.includes(pid))).toEqual([])
    })

    it('The start of a PostgreSQL that dies fails with the end of its log', async () => {
      const starting = start({ settings: ['--no_such_setting=1'] })
      await expect(starting).rejects.toThrow(ServerFailedError)
      await expect(starting).rejects.toThrow('no_such_setting')
    })

    it('A paused PostgreSQL can be stopped', async () => {
      const server = await start()
      await server.pause()
      await server.stop()
      await expect(ask(server.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    })
  })
}
