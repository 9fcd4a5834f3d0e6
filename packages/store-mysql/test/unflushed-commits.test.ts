import type { DocumentWrite } from '@counterstep/core'
import { HangingLog, type SqlServer, startWithHangingLog } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { MysqlStore } from '../src/mysql-store.ts'
import { openMysqlStore } from '../src/open-mysql-store.ts'
import { TestDatabases } from './test-database.ts'
import { aTransaction, drawToken, makeUpdate } from './transactions.ts'

const TRIES = 20

/** Each case is a write of one store that another store then answers from what it reads. */
const ANSWERS: Readonly<
  Record<string, (one: MysqlStore, other: MysqlStore) => readonly [Call, Call, string]>
> = {
  'the same create sent again': (one, other) => {
    const create = aTransaction(drawToken())
    return [() => one.create(create), () => other.create(create), 'created']
  },
  'a create of a gid that exists': (one, other) => {
    const create = aTransaction(drawToken())
    return [() => one.create(create), () => other.create({ ...create, token: drawToken() }), 'exists']
  },
  'the same update sent again': (one, other) => {
    const create = aTransaction(drawToken())
    const update = makeUpdate(create, { status: 'aborting' })
    const write = async () => {
      await one.create(create)
      return one.update(update)
    }
    return [write, () => other.update(update), 'saved']
  },
  'an update that comes too late': (one, other) => {
    const create = aTransaction(drawToken())
    const write = async () => {
      await one.create(create)
      return one.update(makeUpdate(create, { status: 'aborting' }))
    }
    return [write, () => other.update(makeUpdate(create)), 'conflict']
  },
  'the same document sent again': (one, other) => {
    const document = aDocument()
    return [() => one.writeDocument(document), () => other.writeDocument(document), 'written']
  },
  'a read that is settled': (one, other) => {
    const create = aTransaction(drawToken())
    const settle = async () => {
      const [row] = await other.readMany([create.gid])
      await other.settle()
      return { type: row?.status ?? 'none' }
    }
    return [() => one.create(create), settle, 'submitted']
  },
  'a document that another writer has written': (one, other) => {
    const document = aDocument()
    const late = { ...document, writeId: drawToken() }
    return [() => one.writeDocument(document), () => other.writeDocument(late), 'conflict']
  },
  'a document that another writer has removed': (one, other) => {
    const document = aDocument()
    const removal = { ...document, expectedVersion: 1 }
    const write = async () => {
      await one.writeDocument(document)
      return one.removeDocument(removal)
    }
    return [write, () => other.removeDocument(removal), 'absent']
  },
}

function aDocument(): DocumentWrite {
  return { category: 'topics', key: drawToken(), text: 'text', expectedVersion: 0, writeId: drawToken() }
}

type Call = () => Promise<{ readonly type: string }>

for (const kind of ['mariadb', 'mysql'] as const) {
  describeOwn(kind, 'rows that are seen before they are on the disk', () => {
    let server: SqlServer
    let databases: TestDatabases
    let log: HangingLog
    let one: MysqlStore
    let other: MysqlStore
    beforeAll(async () => {
      server = await startWithHangingLog(kind)
      databases = new TestDatabases(server.url)
      log = new HangingLog(async (sql) => (await databases.sql(sql))[0] ?? [])
      const { url } = await databases.migrated('unflushed')
      one = await openMysqlStore({ url })
      other = await openMysqlStore({ url })
      // A first write does more than later ones, which would flush the log.
      const warm = aTransaction('warm')
      for (const store of [one, other, other]) await store.create(warm)
    }, 120_000)
    afterAll(async () => {
      await Promise.all([one.close(), other.close()])
      await server.stop()
    })

    for (const [name, callsOf] of Object.entries(ANSWERS)) {
      it(`A row is on the disk before the answer about it: ${name}`, async () => {
        for (let tries = 1; ; tries++) {
          const [write, again, type] = callsOf(one, other)
          await log.leaveUnflushed(write)
          const before = await log.readEnds()
          // A page that happens to be written flushes the log too. The answer would then prove nothing.
          if (before.flushed >= before.written) {
            expect(tries).toBeLessThan(TRIES)
            continue
          }
          expect(await again()).toMatchObject({ type })
          expect((await log.readEnds()).flushed).toBeGreaterThanOrEqual(before.written)
          return
        }
      })
    }

    it('The row that forces others to the disk leaves no trace', async () => {
      const create = aTransaction('a')
      const { name } = await databases.empty('unflushed')
      await one.create(create)
      await other.create(create)
      const [gids] = await databases.sql(
        `SELECT COUNT(*) FROM ${name}.counterstep_transactions WHERE gid LIKE '~%'`,
      )
      expect(gids).toEqual([0])
    })

    // Other servers have given their log to the operating system, which outlives their process.
    if (kind === 'mariadb') {
      it('Rows outlive the server that has answered about them', { timeout: 60_000 }, async () => {
        const create = aTransaction('abort')
        await one.create(create)
        const decision = makeUpdate(create, { status: 'aborting' })
        const fresh = aTransaction('fresh')
        await log.leaveUnflushed(() => one.update(decision))
        expect(await other.update(decision)).toMatchObject({ type: 'saved' })
        await log.leaveUnflushed(() => one.create(fresh))
        expect(await other.create(fresh)).toMatchObject({ type: 'created' })
        await server.kill()
        await server.restart()
        const rows = await one.readMany([create.gid, fresh.gid])
        expect(new Map(rows.map(({ gid, status }) => [gid, status]))).toEqual(
          new Map([
            [create.gid, 'aborting'],
            [fresh.gid, 'submitted'],
          ]),
        )
      })
    }
  })
}
