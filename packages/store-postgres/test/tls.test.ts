import { chown, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type PostgresServer, startPostgres, startPostgres18 } from '@counterstep/test-servers'
import { selfSignedCertificate } from '@counterstep/test-servers/certificate'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { TestDatabases } from './test-database.ts'
import { aTransaction } from './transactions.ts'

const START = { postgres: startPostgres, postgres18: startPostgres18 } as const
const NAME = 'db.counterstep.test'
/** The folder has an authority that was made for these tests, and its certificate for that name. The authority's key no longer exists. */
const CERTIFICATES = join(import.meta.dirname, 'certificates')
/** The server reads only a key that no other user may read. */
const PRIVATE = 0o600

for (const kind of ['postgres', 'postgres18'] as const) {
  describeOwn(kind, 'TLS', () => {
    let ca: string
    let server: PostgresServer
    let databases: TestDatabases
    let url: string
    beforeAll(async () => {
      ca = await readFile(join(CERTIFICATES, 'authority.pem'), 'utf8')
      server = await START[kind]()
      databases = new TestDatabases(server.url)
      url = (await databases.migrated('tls')).url
      const [row] = await databases.sql(
        "SELECT current_setting('data_directory'), current_setting('hba_file')",
      )
      const [data = '', rules = ''] = (row ?? []).map(String)
      await give('server.pem', data)
      await give('server-key.pem', data)
      await databases.sql("ALTER SYSTEM SET ssl_cert_file = 'server.pem'")
      await databases.sql("ALTER SYSTEM SET ssl_key_file = 'server-key.pem'")
      await databases.sql('ALTER SYSTEM SET ssl = on')
      // From now on the server refuses connections without TLS, except those of the superuser.
      await writeFile(
        rules,
        'host all postgres 127.0.0.1/32 trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n',
      )
      await server.restart()
    }, 120_000)
    afterAll(() => server.stop())

    /** Copies a file to the folder of the server's data, for the user to whom that belongs. */
    async function give(name: string, folder: string): Promise<void> {
      const { uid, gid } = await stat(folder)
      const path = join(folder, name)
      await writeFile(path, await readFile(join(CERTIFICATES, name)), { mode: PRIVATE })
      await chown(path, uid, gid)
    }

    it('A store opens over TLS when the certificate is right', async () => {
      const store = await openPostgresStore({ url, tls: { ca, serverName: NAME } })
      expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      const encrypted = `SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE ssl AND usename = '${new URL(url).username}'`
      expect(Number((await databases.sql(encrypted))[0]?.[0])).toBeGreaterThan(0)
      await store.close()
    })

    it('The name that is given is the one in the certificate, also where the URL names another host', async () => {
      const named = url.replace('127.0.0.1', 'localhost')
      const store = await openPostgresStore({ url: named, tls: { ca, serverName: NAME } })
      expect(await store.create(aTransaction('b'))).toMatchObject({ type: 'created' })
      await store.close()
    })

    it('A store does not open without TLS, under another name, or signed by an unknown authority', async () => {
      const soon = { validFrom: new Date(0), validTo: new Date(Date.now() + 86_400_000) }
      const other = selfSignedCertificate({ ...soon, address: '127.0.0.1' }).cert
      const refused = [
        { tls: 'off' as const },
        { tls: { ca, serverName: 'other.counterstep.test' } },
        { tls: { ca: other, serverName: NAME } },
        { tls: { serverName: NAME } },
      ]
      for (const choice of refused) await expectUnavailable(openPostgresStore({ url, ...choice }), 'no')
      const named = url.replace('127.0.0.1', 'localhost')
      await expectUnavailable(openPostgresStore({ url: named, tls: 'required' }), 'no')
      await expectUnavailable(openPostgresStore({ url: named, tls: { ca } }), 'no')
    })

    it('A store that needs TLS does not open on a server that has none', async () => {
      await databases.sql('ALTER SYSTEM SET ssl = off')
      await server.restart()
      const opening = openPostgresStore({ url, tls: { ca, serverName: NAME } })
      await expectUnavailable(opening, 'no')
      await expect(opening).rejects.toThrow('does not support SSL')
      await databases.sql('ALTER SYSTEM SET ssl = on')
      await server.restart()
    })

    it('An address without a name is refused before any connection', async () => {
      await expect(openPostgresStore({ url, tls: { ca } })).rejects.toThrow('tls.serverName')
    })
  })
}
