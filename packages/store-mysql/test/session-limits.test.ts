import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { toConnectionTarget } from '../src/sessions/connection-target.ts'
import { openSession } from '../src/sessions/open-session.ts'
import { testDatabases } from './test-database.ts'

const TIMEOUTS = { connectTimeoutMs: 5_000, statementTimeoutMs: 20_000, lockWaitTimeoutMs: 2_000 }

/** The numbers 1148 and 4166 are MariaDB's, 3948 and 2068 MySQL's. */
const isRefusal = (errno: number) => [1148, 4166, 3948, 2068].includes(errno)

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'sessions', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    it('S23: A session that reads takes one statement at a time', async () => {
      const { url } = await databases.migrated('limits')
      const target = toConnectionTarget(url, 'off', TIMEOUTS.connectTimeoutMs)
      expect(target.multipleStatements).toBe(false)
      const { session } = await openSession(target, { ...TIMEOUTS, autocommit: true })
      await expect(session.all('SELECT 1; SELECT 2')).rejects.toMatchObject({ errno: 1064 })
      session.destroy()
      // Only a session that writes takes the same text.
      const writer = await openSession(target, { ...TIMEOUTS, autocommit: false })
      expect(await writer.session.sendPacket(['SELECT 1', 'SELECT 2'])).toEqual([[[1]], [[2]]])
      writer.session.destroy()
    })

    it('S23: No session begins if its driver does not write UTF-8', async () => {
      const { url } = await databases.migrated('latin')
      const target = toConnectionTarget(url, 'off', TIMEOUTS.connectTimeoutMs)
      const opening = openSession({ ...target, charset: 'BINARY' }, { ...TIMEOUTS, autocommit: false })
      await expect(opening).rejects.toThrow('the driver does not write UTF-8')
    })

    it('S23: No session hands over a file of this machine, though the server asks for it', async () => {
      await databases.sql('SET GLOBAL local_infile = 1')
      const { rootUrl } = await databases.migrated('files')
      for (const autocommit of [true, false]) {
        const target = toConnectionTarget(rootUrl, 'off', TIMEOUTS.connectTimeoutMs)
        const { session } = await openSession(target, { ...TIMEOUTS, autocommit })
        const load = "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE counterstep_schema (name)"
        // This is the server's refusal of a client that has not offered it. The driver's refusal would have another number.
        await expect(session.run(load)).rejects.toMatchObject({ errno: expect.toSatisfy(isRefusal) })
        session.destroy()
      }
    })
  })
}
