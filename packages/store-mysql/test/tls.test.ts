import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type SqlServer, startMariadb, startMysql } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openMysqlStore } from '../src/open-mysql-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { TestDatabases } from './test-database.ts'
import { aTransaction } from './transactions.ts'

const START = { mariadb: startMariadb, mysql: startMysql } as const
const NAME = 'db.counterstep.test'
/** The folder has an authority that was made for these tests, and its certificate for that name. The authority's key no longer exists. */
const CERTIFICATES = join(import.meta.dirname, 'certificates')
const certificate = (name: string) => join(CERTIFICATES, `${name}.pem`)

for (const kind of ['mariadb', 'mysql'] as const) {
  describeOwn(kind, 'TLS', () => {
    let ca: string
    let server: SqlServer
    let url: string
    beforeAll(async () => {
      ca = await readFile(certificate('authority'), 'utf8')
      server = await START[kind]({
        settings: [
          `--ssl-ca=${certificate('authority')}`,
          `--ssl-cert=${certificate('server')}`,
          `--ssl-key=${certificate('server-key')}`,
        ],
      })
      const databases = new TestDatabases(server.url)
      url = (await databases.migrated('tls')).url
      // From now on the server refuses connections without TLS.
      await databases.sql('SET GLOBAL require_secure_transport = ON')
    }, 120_000)
    afterAll(async () => {
      await server.stop()
    })

    it('A store opens over TLS when the certificate is right', async () => {
      const store = await openMysqlStore({ url, tls: { ca, serverName: NAME } })
      expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      await store.close()
    })

    it('A store does not open without TLS, under another name, or signed by an unknown authority', async () => {
      const refused = [
        { tls: 'off' as const },
        { tls: { ca, serverName: 'other.counterstep.test' } },
        { tls: { serverName: NAME } },
      ]
      for (const choice of refused) await expectUnavailable(openMysqlStore({ url, ...choice }), 'no')
      const named = url.replace('127.0.0.1', 'localhost')
      await expectUnavailable(openMysqlStore({ url: named, tls: 'required' }), 'no')
      await expectUnavailable(openMysqlStore({ url: named, tls: { ca } }), 'no')
    })
  })
}
