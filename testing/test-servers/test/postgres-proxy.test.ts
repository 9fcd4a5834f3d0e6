import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  isPostgresCommit,
  isPostgresWrite,
  matchPostgres,
  startTcpProxy,
  type TcpProxy,
} from '../src/index.ts'
import { until } from '../src/until.ts'
import { describeOn } from '../src/vitest/describe-on.ts'
import { ask, onClient, onFreshDatabase } from './connect-postgres.ts'

const SEEN_MS_MAX = 20_000
/** It comes in many reads. */
const LARGE = 'x'.repeat(5_000_000)
const INSERT = 'INSERT INTO notes VALUES ($1, $2)'

for (const kind of ['postgres', 'postgres18', 'pgbouncer'] as const) {
  describeOn(kind, 'a proxy', (server) => {
    let proxy: TcpProxy
    beforeEach(async () => {
      const { hostname, port } = new URL(server)
      proxy = await startTcpProxy({ host: hostname, port: Number(port || 5432) })
    })
    afterEach(() => proxy.close())

    /** Runs `use` on a database with a table: its URL, and the same through the proxy. */
    function onNotes(use: (url: string, proxied: string) => Promise<void>): Promise<void> {
      return onFreshDatabase(server, `proxy_${process.pid}_${kind}`, async (url) => {
        await ask(url, 'CREATE TABLE notes (id int PRIMARY KEY, text text)')
        await use(url, proxy.through(url))
      })
    }

    async function insertAndCommit(url: string, commit: string | { text: string; values: [] }) {
      await onClient(url, async (client) => {
        await client.query('BEGIN')
        await client.query(INSERT, [1, 'one'])
        await client.query(commit as string)
      })
    }

    async function ids(url: string): Promise<readonly unknown[]> {
      return (await ask(url, 'SELECT id FROM notes ORDER BY id')).map(({ id }) => id)
    }

    for (const [protocol, commit] of [
      ['a simple query', 'COMMIT'],
      ['the extended protocol', { text: 'COMMIT', values: [], queryMode: 'extended' }],
    ] as const) {
      it(`A proxy loses the answer to a COMMIT by ${protocol} that took effect`, () =>
        onNotes(async (url, proxied) => {
          const fault = proxy.dropAnswerWhen(matchPostgres(isPostgresCommit))
          await expect(insertAndCommit(proxied, commit as string)).rejects.toThrow(/ECONNRESET|terminated/)
          expect(await ids(url)).toEqual([1])
          expect([fault.bites(), proxy.counts().answersDropped]).toEqual([1, 1])
        }))

      it(`A proxy loses a COMMIT by ${protocol} that then takes no effect`, () =>
        onNotes(async (url, proxied) => {
          const fault = proxy.cutBefore(matchPostgres(isPostgresCommit))
          await expect(insertAndCommit(proxied, commit as string)).rejects.toThrow(/ECONNRESET|terminated/)
          expect(await ids(url)).toEqual([])
          expect(fault.bites()).toBe(1)
        }))
    }

    it('A proxy loses the answer to a large statement that took effect, and passes on the others', () =>
      onNotes(async (url, proxied) => {
        const fault = proxy.dropAnswerWhen(matchPostgres(isPostgresWrite))
        await onClient(proxied, async (client) => {
          await client.query('SELECT $1::text FROM notes FOR UPDATE', ['UPDATE notes'])
          await expect(client.query(INSERT, [1, LARGE])).rejects.toThrow(/ECONNRESET|terminated/)
        })
        expect(await ids(url)).toEqual([1])
        expect(fault.bites()).toBe(1)
      }))

    it('A proxy loses a large statement that then takes no effect', () =>
      onNotes(async (url, proxied) => {
        const fault = proxy.cutBefore(matchPostgres((sql) => sql === INSERT))
        await expect(ask(proxied, { text: INSERT, values: [1, LARGE] })).rejects.toThrow(
          /ECONNRESET|terminated/,
        )
        expect(await ids(url)).toEqual([])
        expect(fault.bites()).toBe(1)
      }))

    // A pooler may see the end of the client before it has a server connection for the statement, which is then lost.
    if (kind === 'pgbouncer') return
    it('A proxy cuts off the client of a statement that the server is still carrying out', () =>
      onNotes(async (url, proxied) => {
        await onClient(url, async (other) => {
          await other.query('BEGIN')
          await other.query(INSERT, [1, 'of the other'])
          const fault = proxy.cutAfter(matchPostgres(isPostgresWrite))
          const cut = ask(proxied, { text: INSERT, values: [1, 'one'] })
          await expect(cut).rejects.toThrow(/ECONNRESET|terminated/)
          await fault.bitten
          const waiting =
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
          await until('the statement waits', SEEN_MS_MAX, async () => (await ask(url, waiting)).length === 1)
          await other.query('ROLLBACK')
        })
        await until('the statement has taken effect', SEEN_MS_MAX, async () => (await ids(url)).length === 1)
        expect(await ask(url, 'SELECT text FROM notes')).toEqual([{ text: 'one' }])
      }))
  })
}
