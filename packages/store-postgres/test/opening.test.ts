import { describeOn } from '@counterstep/test-servers/vitest'
import { describe, expect, it } from 'vitest'
import { MIGRATIONS, STATEMENTS } from '../src/generated/sql.ts'
import { migratePostgres, openPostgresStore } from '../src/open-postgres-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction } from './transactions.ts'

for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'opening', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    it('A store is class A on a durable server, and lossy in a failover unless an option says otherwise', async () => {
      const { url } = await databases.migrated('class')
      const store = await openPostgresStore({ url })
      expect([store.durabilityClass, store.failover]).toEqual(['A', 'lossy'])
      await store.close()
      const other = url.replace('postgres:', 'postgresql:')
      const lossless = await openPostgresStore({ url: other, failover: 'lossless' })
      expect(lossless.failover).toBe('lossless')
      await lossless.close()
    })

    it('A store makes the tables by itself if its user may', async () => {
      const { ownerUrl } = await databases.empty('by-itself')
      const store = await openPostgresStore({ url: ownerUrl })
      expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      await store.close()
    })

    it('A user who may not make tables is told who must make them', async () => {
      const { url, ownerUrl } = await databases.empty('no-tables')
      const refused = openPostgresStore({ url })
      await expect(refused).rejects.toMatchObject({ code: 'SAGA_STORE_SCHEMA' })
      await expect(refused).rejects.toThrow('counterstep migrate')
      await migratePostgres({ url: ownerUrl })
      await expect(openPostgresStore({ url })).rejects.toMatchObject({ code: 'SAGA_STORE_SCHEMA' })
    })

    it('A user without any schema is told who must make the tables', async () => {
      const { url, ownerUrl, name } = await databases.empty('no-schema')
      await databases.sql(`REVOKE USAGE ON SCHEMA ${name} FROM ${name}`, ownerUrl)
      await expect(openPostgresStore({ url })).rejects.toMatchObject({ code: 'SAGA_STORE_SCHEMA' })
      await databases.sql(`ALTER ROLE ${name} SET search_path = no_such_schema`)
      await expect(openPostgresStore({ url })).rejects.toMatchObject({ code: 'SAGA_STORE_SCHEMA' })
    })

    it('A user needs no more rights than to read and write rows', async () => {
      const store = await openPostgresStore({ url: (await databases.migrated('rows-only')).url })
      expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      await store.close()
    })

    it('S24: A user who may not write rows is refused, and the missing rights are named', async () => {
      const { url, ownerUrl, name } = await databases.migrated('may-not-write')
      const change = (change: string) => databases.sql(change, ownerUrl)
      await change(`REVOKE INSERT, UPDATE, DELETE ON counterstep_transactions FROM ${name}`)
      const readOnly = openPostgresStore({ url })
      await expect(readOnly).rejects.toMatchObject({ code: 'SAGA_STORE_UNSUPPORTED' })
      for (const right of ['INSERT', 'UPDATE', 'DELETE'])
        await expect(readOnly).rejects.toThrow(`${right} ON counterstep_transactions`)
      await change(`GRANT INSERT, UPDATE ON counterstep_transactions TO ${name}`)
      await expect(openPostgresStore({ url })).rejects.toThrow(/GRANT DELETE ON counterstep_transactions$/)
      await change(`GRANT DELETE ON counterstep_transactions TO ${name}`)
      await change(`REVOKE INSERT, DELETE ON counterstep_tags FROM ${name}`)
      await expect(openPostgresStore({ url })).rejects.toThrow(
        /GRANT INSERT ON counterstep_tags, DELETE ON counterstep_tags$/,
      )
      await change(`GRANT INSERT, DELETE ON counterstep_tags TO ${name}`)
      await (await openPostgresStore({ url })).close()
    })

    it('A database whose encoding is not UTF-8 is refused by that', async () => {
      const name = `cs_ascii_${process.pid}_${server}`
      await databases.sql(
        `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'`,
      )
      const url = new URL(serverUrl)
      url.pathname = `/${name}`
      try {
        const refused = openPostgresStore({ url: url.href })
        await expect(refused).rejects.toMatchObject({ code: 'SAGA_STORE_UNSUPPORTED' })
        await expect(refused).rejects.toThrow('SQL_ASCII')
        await expect(migratePostgres({ url: url.href })).rejects.toMatchObject({
          code: 'SAGA_STORE_UNSUPPORTED',
        })
      } finally {
        await databases.sql(`DROP DATABASE ${name} WITH (FORCE)`)
      }
    })

    it('A store that cannot be opened is unavailable, and the error does not have the password', async () => {
      const { url } = await databases.migrated('refused')
      const wrong = new URL(url)
      wrong.password = 'wrong-secret'
      const opening = openPostgresStore({ url: wrong.href })
      await expectUnavailable(opening, 'no')
      const error: unknown = await opening.catch((reason: unknown) => reason)
      expect(JSON.stringify([String(error), error, String((error as Error).cause)])).not.toContain(
        'wrong-secret',
      )
      expect(error).toMatchObject({ isLoginRefused: true })
      expect((error as Error).message).toMatch(
        /^the server refused the login: password authentication failed/,
      )
      const absent = new URL(url)
      absent.pathname = '/no_such_database'
      await expect(openPostgresStore({ url: absent.href })).rejects.toMatchObject({ isLoginRefused: true })
      wrong.port = '1'
      await expectUnavailable(openPostgresStore({ url: wrong.href }), 'no')
      await expect(openPostgresStore({ url: wrong.href })).rejects.toMatchObject({
        isLoginRefused: false,
        message: expect.stringMatching(/^the server cannot be reached: /),
      })
    })

    it('Fewer than two connections are refused', async () => {
      const { url } = await databases.migrated('refused')
      await expect(openPostgresStore({ url, connectionsMax: 1 })).rejects.toThrow(RangeError)
    })

    describe('migrations', () => {
      it('Migrations are applied once, however many apply them', async () => {
        const { ownerUrl: url } = await databases.empty('once')
        const reports = await Promise.all(Array.from({ length: 8 }, () => migratePostgres({ url })))
        expect(reports.filter(({ from, to }) => from === 0 && to === 1)).toHaveLength(1)
        expect(reports.filter(({ from, to }) => from === 1 && to === 1)).toHaveLength(7)
      })

      it('A migration touches no table that another role has made under our names', async () => {
        const { ownerUrl, url, name } = await databases.empty('squatted')
        const admin = (sql: string) => databases.sql(sql, ownerUrl)
        const refused = async (table: string) => {
          const migrating = migratePostgres({ url: ownerUrl })
          await expect(migrating).rejects.toMatchObject({ code: 'SAGA_STORE_SCHEMA' })
          await expect(migrating).rejects.toThrow(`${table} belongs to the role ${name}: `)
        }
        await admin(`GRANT CREATE ON SCHEMA ${name} TO ${name}`)
        await databases.sql('CREATE TABLE counterstep_transactions (gid text)', url)
        await refused('counterstep_transactions')
        await databases.sql('DROP TABLE counterstep_transactions', url)
        // The trigger would do what the administrator may do, and the view what its reader may do.
        await databases.sql(
          `CREATE FUNCTION leave_a_trace() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN CREATE TABLE trace (); RETURN new; END'`,
          url,
        )
        await databases.sql(
          'CREATE TABLE counterstep_schema (version integer, min_reader integer, name text, applied_at bigint)',
          url,
        )
        await databases.sql(
          'CREATE TRIGGER t BEFORE INSERT ON counterstep_schema FOR EACH ROW EXECUTE FUNCTION leave_a_trace()',
          url,
        )
        await refused('counterstep_schema')
        await databases.sql('DROP TABLE counterstep_schema', url)
        await databases.sql('CREATE VIEW counterstep_schema AS SELECT 1 AS version, 1 AS min_reader', url)
        await refused('counterstep_schema')
        await databases.sql('DROP VIEW counterstep_schema', url)
        expect(await admin(`SELECT to_regclass('trace')`)).toEqual([[null]])
        expect(await migratePostgres({ url: ownerUrl })).toEqual({ from: 0, to: 1 })
      })

      it('S24: Nothing is opened or migrated where every role may plant functions', async () => {
        const { ownerUrl, url, name } = await databases.migrated('open-to-all')
        await databases.sql(`GRANT CREATE ON SCHEMA ${name} TO PUBLIC`, ownerUrl)
        for (const open of [() => migratePostgres({ url: ownerUrl }), () => openPostgresStore({ url })]) {
          const refused = open()
          await expect(refused).rejects.toMatchObject({ code: 'SAGA_STORE_SCHEMA' })
          await expect(refused).rejects.toThrow(`REVOKE CREATE ON SCHEMA ${name} FROM PUBLIC`)
        }
        await databases.sql(`REVOKE CREATE ON SCHEMA ${name} FROM PUBLIC`, ownerUrl)
        await (await openPostgresStore({ url })).close()
      })

      it('S24: A migration runs no function or operator that another role has planted for one of the server', async () => {
        const { ownerUrl, url, name } = await databases.empty('planted')
        const other = (sql: string) => databases.sql(sql, url)
        await databases.sql(`GRANT CREATE ON SCHEMA ${name} TO ${name}`, ownerUrl)
        await databases.sql('CREATE TABLE trace (note text)', ownerUrl)
        const leaveTrace = (declared: string, returned: string) =>
          other(
            `CREATE FUNCTION ${declared} LANGUAGE plpgsql AS 'BEGIN INSERT INTO ${name}.trace VALUES (current_user); RETURN ${returned}; END'`,
          )
        const plants = [
          {
            dropped: 'FUNCTION hashtext(name)',
            named: `function ${name}.hashtext`,
            plant: () => leaveTrace('hashtext(value name) RETURNS integer', '1'),
          },
          {
            dropped: 'FUNCTION concat_ws(text, text, integer, bigint)',
            named: `function ${name}.concat_ws`,
            plant: () => leaveTrace('concat_ws(a text, b text, c integer, d bigint) RETURNS text', 'b'),
          },
          {
            dropped: 'OPERATOR * (numeric, integer)',
            named: `operator ${name}.*`,
            plant: async () => {
              await leaveTrace('planted(a numeric, b integer) RETURNS numeric', 'a')
              await other('CREATE OPERATOR * (LEFTARG = numeric, RIGHTARG = integer, FUNCTION = planted)')
            },
          },
        ]
        for (const { plant, named, dropped } of plants) {
          await plant()
          const migrating = migratePostgres({ url: ownerUrl })
          await expect(migrating).rejects.toMatchObject({ code: 'SAGA_STORE_SCHEMA' })
          await expect(migrating).rejects.toThrow(`the ${named} of the role ${name} stands in for`)
          await other(`DROP ${dropped}`)
        }
        expect(await databases.sql('SELECT note FROM trace', ownerUrl)).toEqual([])
        expect(await migratePostgres({ url: ownerUrl })).toEqual({ from: 0, to: 1 })
        // An overload of the migrating user's own, and a function with a name of its own, are no reason to refuse.
        await databases.sql(
          "CREATE FUNCTION lower(a integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
          ownerUrl,
        )
        await databases.sql(
          "CREATE FUNCTION minus(a integer, b integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
          ownerUrl,
        )
        await databases.sql(
          'CREATE OPERATOR %%% (LEFTARG = integer, RIGHTARG = integer, FUNCTION = minus)',
          ownerUrl,
        )
        expect(await migratePostgres({ url: ownerUrl })).toEqual({ from: 1, to: 1 })
        // The owner of the tables is trusted by the store's own user, too.
        await databases.sql(`GRANT SELECT ON counterstep_schema TO ${name}`, ownerUrl)
        const opened = openPostgresStore({ url })
        await expect(opened).rejects.toMatchObject({ code: 'SAGA_STORE_UNSUPPORTED' })
        await expect(opened).rejects.toThrow('this user lacks rights')
      })

      it('S24: The check of foreign owners names whatever a migration would leave as it finds it', () => {
        const statements: readonly string[] = MIGRATIONS.flatMap(({ statements }) => statements)
        const made = [...statements, STATEMENTS.createSchemaTable].flatMap(
          (sql) => /CREATE \w+ IF NOT EXISTS (\w+)/.exec(sql)?.[1] ?? [],
        )
        const named = STATEMENTS.readForeignTables
          .match(/'(counterstep_\w+)'/g)
          ?.map((name) => name.slice(1, -1))
        expect(made.sort()).toEqual(named?.sort())
      })

      it('Eight stores at once open on an empty schema', async () => {
        const { ownerUrl: url } = await databases.empty('eight')
        const stores = await Promise.all(Array.from({ length: 8 }, () => openPostgresStore({ url })))
        const created = await Promise.all(stores.map((store, i) => store.create(aTransaction(`t-${i}`))))
        expect(created.map(({ type }) => type)).toEqual(stores.map(() => 'created'))
        await Promise.all(stores.map((store) => store.close()))
      })

      it('Migrations go on where the tables are there and their note is not', async () => {
        const { ownerUrl: url } = await databases.migrated('crash')
        await databases.sql('DELETE FROM counterstep_schema', url)
        expect(await migratePostgres({ url })).toEqual({ from: 0, to: 1 })
      })

      it('Tables that older code must not touch are refused, and tables that it may touch are opened', async () => {
        const { url, ownerUrl } = await databases.migrated('newer')
        await databases.sql("INSERT INTO counterstep_schema VALUES (99, 1, '099-future', 0)", ownerUrl)
        await (await openPostgresStore({ url })).close()
        await databases.sql('UPDATE counterstep_schema SET min_reader = 99 WHERE version = 99', ownerUrl)
        const refused = openPostgresStore({ url })
        await expect(refused).rejects.toMatchObject({ code: 'SAGA_STORE_SCHEMA' })
        await expect(refused).rejects.toThrow('schema 99')
      })
    })
  })
}
