import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ServerFailedError, type SqlServer, startMariadb, startMysql } from '../src/index.ts'
import { describeOwn } from '../src/vitest/describe-on.ts'
import { ask, onConnection } from './connect-sql.ts'

/** In this time a running server would have answered. */
const SILENCE_MS = 300

for (const [kind, start] of [
  ['mariadb', startMariadb],
  ['mysql', startMysql],
] as const) {
  describeOwn(kind, 'a server of its own', () => {
    let server: SqlServer
    beforeAll(async () => {
      server = await start()
      await ask(server.url, 'CREATE DATABASE harness')
      await ask(server.url, 'CREATE TABLE harness.notes (id INT PRIMARY KEY)')
    })
    afterAll(() => server.stop())

    it('An SQL server says its version, its kind and its address', async () => {
      const [row] = await ask(server.url, 'SELECT VERSION() AS version')
      expect(row?.version).toBe(server.version)
      expect(server.flavor).toBe(kind)
      expect(server.url).toBe(`mysql://root@127.0.0.1:${server.port}`)
    })

    it('An SQL server is durable and bounded, and does not listen to other machines', async () => {
      const names = [
        'innodb_flush_log_at_trx_commit',
        'sync_binlog',
        'log_bin',
        'max_connections',
        'bind_address',
      ]
      const [row] = await ask(server.url, `SELECT ${names.map((name) => `@@${name}`).join(', ')}`)
      expect(Object.values(row ?? {})).toEqual([1, 1, 1, 300, '127.0.0.1'])
    })

    it('An SQL server has its data after SIGKILL, on the same port', async () => {
      await ask(server.url, 'INSERT INTO harness.notes VALUES (1)')
      const before = server.pid()
      await server.kill()
      await expect(ask(server.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
      await server.restart()
      expect(server.pid()).not.toBe(before)
      expect(await ask(server.url, 'SELECT id FROM harness.notes')).toEqual([{ id: 1 }])
    })

    it('An SQL server has its data after a clean restart', async () => {
      await server.restart()
      expect(await ask(server.url, 'SELECT id FROM harness.notes')).toEqual([{ id: 1 }])
    })

    it('A paused SQL server answers nothing, and goes on where it was', async () => {
      await onConnection(server.url, async (connection) => {
        await server.pause()
        let isAnswered = false
        const answer = connection.query('SELECT 1').then(() => {
          isAnswered = true
        })
        await new Promise((resolve) => setTimeout(resolve, SILENCE_MS))
        expect(isAnswered).toBe(false)
        await server.resume()
        await answer
      })
    })
  })

  describeOwn(kind, 'the start of a server', () => {
    it('Given settings override those that an SQL server has by default', async () => {
      const server = await start({ settings: ['--max-connections=17', '--sync-binlog=0'] })
      const [row] = await ask(server.url, 'SELECT @@max_connections AS connections, @@sync_binlog AS sync')
      await server.stop()
      expect(row).toEqual({ connections: 17, sync: 0 })
    })

    it('Each SQL server gets a port, an id and data of its own, and leaves nothing', async () => {
      const servers = await Promise.all([start(), start()])
      const rows = await Promise.all(
        servers.map(({ url }) =>
          ask(url, 'SELECT @@server_id AS id, @@datadir AS data, @@tmpdir AS temporary'),
        ),
      )
      await Promise.all(servers.map((server) => server.stop()))
      expect(new Set(servers.map(({ port }) => port)).size).toBe(2)
      expect(new Set(rows.map(([row]) => row?.id)).size).toBe(2)
      expect(new Set(rows.map(([row]) => row?.temporary)).size).toBe(2)
      const folders = rows.map(([row]) => dirname(String(row?.data)))
      expect(folders.map((folder) => existsSync(folder))).toEqual([false, false])
    })

    it('The start of an SQL server that dies fails with the end of its log', async () => {
      const starting = start({ settings: ['--no-such-setting=1'] })
      await expect(starting).rejects.toThrow(ServerFailedError)
      await expect(starting).rejects.toThrow('no-such-setting=1')
    })

    it('A paused SQL server can be stopped', async () => {
      const server = await start()
      await server.pause()
      await server.stop()
      await expect(ask(server.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    })
  })
}
