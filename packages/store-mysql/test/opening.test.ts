import { describeOn } from '@counterstep/test-servers/vitest'
import { describe, expect, it } from 'vitest'
import { migrateMysql, openMysqlStore } from '../src/open-mysql-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction } from './transactions.ts'

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'opening', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    it('A store is class A on a durable server, and lossy in a failover unless an option says otherwise', async () => {
      const { url } = await databases.migrated('class')
      const store = await openMysqlStore({ url })
      expect([store.durabilityClass, store.failover]).toEqual(['A', 'lossy'])
      await store.close()
      const lossless = await openMysqlStore({ url: url.replace('mysql:', 'mariadb:'), failover: 'lossless' })
      expect(lossless.failover).toBe('lossless')
      await lossless.close()
    })

    it('A store makes the tables by itself if its user may', async () => {
      const { rootUrl } = await databases.empty('by-itself')
      const store = await openMysqlStore({ url: rootUrl })
      expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      await store.close()
    })

    it('A user who may not make tables is told who must make them', async () => {
      const { url, rootUrl } = await databases.empty('no-tables')
      // This user may not even use the database.
      await expectUnavailable(openMysqlStore({ url }), 'no')
      await databases.grant('no-tables', 'SELECT, INSERT, UPDATE, DELETE ON ?.*')
      const refused = openMysqlStore({ url })
      await expect(refused).rejects.toMatchObject({ code: 'SAGA_STORE_SCHEMA' })
      await expect(refused).rejects.toThrow('counterstep migrate')
      await migrateMysql({ url: rootUrl })
      await (await openMysqlStore({ url })).close()
    })

    it('A user needs no more rights than to read and write rows', async () => {
      const store = await openMysqlStore({ url: (await databases.migrated('rows-only')).url })
      expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      await store.close()
    })

    it('S24: A user who may not write rows is refused, and the missing rights are named', async () => {
      const { url } = await databases.empty('may-not-write')
      await databases.migrated('may-not-write')
      for (const grant of ['INSERT', 'UPDATE', 'DELETE'])
        await databases.revoke('may-not-write', `${grant} ON ?.counterstep_transactions`)
      const readOnly = openMysqlStore({ url })
      await expect(readOnly).rejects.toMatchObject({ code: 'SAGA_STORE_UNSUPPORTED' })
      await expect(readOnly).rejects.toThrow('may not INSERT, UPDATE, DELETE on counterstep_transactions')
      await databases.grant('may-not-write', 'INSERT, UPDATE ON ?.counterstep_transactions')
      await expect(openMysqlStore({ url })).rejects.toThrow('may not DELETE on counterstep_transactions')
      await databases.grant('may-not-write', 'DELETE ON ?.counterstep_transactions')
      await (await openMysqlStore({ url })).close()
    })

    it('A store that cannot be opened is unavailable, and the error does not have the password', async () => {
      const { url } = await databases.migrated('refused')
      const wrong = new URL(url)
      wrong.password = 'wrong-secret'
      const opening = openMysqlStore({ url: wrong.href })
      await expectUnavailable(opening, 'no')
      const error: unknown = await opening.catch((reason: unknown) => reason)
      expect(JSON.stringify([String(error), error, String((error as Error).cause)])).not.toContain(
        'wrong-secret',
      )
      expect(error).toMatchObject({ isLoginRefused: true })
      expect((error as Error).message).toMatch(/^the server refused the login: Access denied/)
      wrong.port = '1'
      await expectUnavailable(openMysqlStore({ url: wrong.href }), 'no')
      await expect(openMysqlStore({ url: wrong.href })).rejects.toMatchObject({
        isLoginRefused: false,
        message: expect.stringMatching(/^the server cannot be reached: /),
      })
    })

    describe('migrations', () => {
      it('Migrations are applied once, however many apply them', async () => {
        const { rootUrl: url } = await databases.empty('once')
        const reports = await Promise.all(Array.from({ length: 8 }, () => migrateMysql({ url })))
        expect(reports.filter(({ from, to }) => from === 0 && to === 4)).toHaveLength(1)
        expect(reports.filter(({ from, to }) => from === 4 && to === 4)).toHaveLength(7)
      })

      it('Migrations go on after a crash between a table and its note', async () => {
        const { rootUrl: url, name } = await databases.migrated('crash')
        await databases.sql(`DELETE FROM ${name}.counterstep_schema`)
        expect(await migrateMysql({ url })).toEqual({ from: 0, to: 4 })
      })

      it('Tables that older code must not touch are refused, and tables that it may touch are opened', async () => {
        const { url, name } = await databases.migrated('newer')
        await databases.sql(`INSERT INTO ${name}.counterstep_schema VALUES (99, 1, '099-future', 0)`)
        await (await openMysqlStore({ url })).close()
        await databases.sql(`UPDATE ${name}.counterstep_schema SET min_reader = 99 WHERE version = 99`)
        const refused = openMysqlStore({ url })
        await expect(refused).rejects.toMatchObject({ code: 'SAGA_STORE_SCHEMA' })
        await expect(refused).rejects.toThrow('schema 99')
      })

      it('An engine without transactions is refused', async () => {
        const { url, name } = await databases.migrated('engine')
        await databases.sql(`ALTER TABLE ${name}.counterstep_transactions ENGINE = MyISAM`)
        const refused = openMysqlStore({ url })
        await expect(refused).rejects.toMatchObject({ code: 'SAGA_STORE_UNSUPPORTED' })
        await expect(refused).rejects.toThrow('MyISAM')
      })
    })
  })
}
