import { describeOn } from '@counterstep/test-servers/vitest'
import { format } from 'mysql2'
import {
  createPool,
  type Pool,
  type PoolConnection,
  type PoolOptions,
  type RowDataPacket,
} from 'mysql2/promise'
import { expect, it } from 'vitest'
import { unwrapLease } from '../../src/barrier/lease.ts'
import { mysqlBarrier, mysqlBarrierIn, purgeBarrier } from '../../src/barrier/mysql.ts'
import { groupedBranch } from '../../src/grouped/grouped.ts'
import { conditionalAdd, mysqlGroupBarrier } from '../../src/grouped/mysql.ts'
import { BranchFailure } from '../../src/index.ts'
import { barrierSuite } from '../barrier/barrier-suite.ts'
import { purging, suiteClock } from '../barrier/suite-clock.ts'
import { conditionalAddSuite } from '../grouped/conditional-add-suite.ts'
import { groupSuite } from '../grouped/group-suite.ts'
import { groupedFixture, MANNERS, type Manner, PAIRS, type WriteEffects } from '../grouped/grouped-fixture.ts'
import {
  beforeEachStatement,
  countMysqlRows,
  dropMysqlDatabase,
  isWaitingFor,
  losingCommit,
  mysqlEffects,
  mysqlEffectsOfEach,
  openMysqlDatabase,
  openMysqlFixture,
  readWord,
} from './mysql-fixture.ts'

const write: WriteEffects<Pick<PoolConnection, 'query'>> = async (tx, calls) => {
  const rows = calls.map(({ call }) => [Buffer.from(call.gid), call.op])
  if (rows.length > 0) await tx.query({ sql: 'INSERT INTO effect (gid, op) VALUES ?', values: [rows] })
}

const answerEntries = async (_: unknown, calls: readonly { readonly entry: unknown }[]) =>
  calls.map(({ entry }) => entry)

/** Formats a query as users do it: every name is looked up, and one without a value is an error. */
function strictFormat(sql: string, values: unknown): string {
  const [name] = /:\w+/.exec(sql) ?? []
  if (name !== undefined) throw new Error(`no value for ${name}`)
  return format(sql, Array.isArray(values) ? values : [])
}

/** Opens the suite's fixture with calls that go through groups, over one pool more on the fixture's own database. */
async function openGroupedFixture(url: string, manner: Manner, queues = 1, options: PoolOptions = {}) {
  const pool = await openMysqlDatabase(url)
  const [rows] = await pool.query<RowDataPacket[]>('SELECT DATABASE() AS name')
  const groupPool = createPool({ uri: `${url}/${rows[0]?.name}`, ...options })
  const plain = await openMysqlFixture(url)
  const fixture = groupedFixture(
    {
      ...plain,
      effects: (gid) => mysqlEffects(pool, gid),
      effectsOfEach: (gids) => mysqlEffectsOfEach(pool, gids),
      rows: (gid) => countMysqlRows(pool, gid),
      purge: async (before) => {
        await purgeBarrier(pool, purging(before))
      },
    },
    (when) => mysqlGroupBarrier(when === undefined ? groupPool : losingCommit(groupPool, when), suiteClock),
    write as WriteEffects<unknown>,
    manner,
    queues,
  )
  return {
    ...fixture,
    close: async () => {
      await plain.close()
      await groupPool.end()
      await dropMysqlDatabase(pool)
    },
  }
}

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'grouped branches', (url) => {
    // The others differ in the SDK alone, so one server shows them.
    for (const manner of server === 'mariadb' ? MANNERS : (['takes out'] as const)) {
      barrierSuite({
        name: `${server}, grouped, whose apply ${manner}`,
        open: () => openGroupedFixture(url, manner),
        pairs: PAIRS[manner],
        width: 64,
      })
    }
    if (server === 'mariadb') {
      barrierSuite({
        name: `${server}, grouped in eight queues`,
        open: () => openGroupedFixture(url, 'takes out', 8),
        width: 64,
      })
      barrierSuite({
        name: `${server}, grouped, with other flags and values`,
        open: () =>
          openGroupedFixture(url, 'takes out', 2, {
            flags: ['-FOUND_ROWS'],
            rowsAsArray: true,
            typeCast: false,
          }),
        pairs: 100,
        width: 20,
      })
    }
    groupSuite(server, async () => {
      const pool: Pool = await openMysqlDatabase(url)
      return {
        barrier: mysqlGroupBarrier(pool),
        write,
        effects: (gid: string) => mysqlEffects(pool, gid),
        rows: (gid: string) => countMysqlRows(pool, gid),
        rollBack: async (tx: PoolConnection) => {
          await unwrapLease(tx).query({ sql: 'ROLLBACK' })
        },
        deadlock: () => Object.assign(new Error('Deadlock found'), { errno: 1213 }),
        losingCommit: (when: 'before' | 'after') => mysqlGroupBarrier(losingCommit(pool, when)) as never,
        impatient: (timeoutMs) => mysqlGroupBarrier(pool, { timeoutMs }),
        isConcurrent: true,
        close: () => dropMysqlDatabase(pool),
      }
    })
    it('An effect sees everything that was committed before the row that its group has waited for', async () => {
      const pool = await openMysqlDatabase(url)
      const call = { gid: 'waited', branchId: '01', op: 'action' } as const
      const undo = { ...call, op: 'compensate' } as const
      let seen: readonly unknown[] = []
      const branch = groupedBranch(mysqlGroupBarrier(pool), {
        key: () => 'one',
        apply: async (tx, calls) => {
          if (calls.some(({ call: { op } }) => op === 'compensate')) {
            const [rows] = await tx.query<RowDataPacket[]>("SELECT op FROM effect WHERE gid = 'waited'")
            seen = rows.map(({ op }) => op)
          }
          return calls.map(() => 'done')
        },
      })
      const others = ['a', 'b', 'c', 'd', 'e'].map((gid) => ({ ...call, gid }))
      await branch.run(others[0] ?? call, () => 0)
      const other = await pool.getConnection()
      await other.beginTransaction()
      const barrier = mysqlBarrierIn(other)
      await barrier.run(call, (tx) => write(tx, [{ call, entry: 0 }]) as Promise<void>)
      // The first of them stands already, so what stands is looked up before the group waits for the other transaction.
      const running = [...others, undo].map((each) => branch.run(each, () => 0))
      await expect.poll(() => isWaitingFor(pool, 'waited'), { interval: 250, timeout: 8_000 }).toBe(true)
      await other.commit()
      other.release()
      const outcomes = await Promise.all(running)
      expect(outcomes.map(({ decision }) => decision)).toEqual(['duplicate', ...Array(5).fill('run')])
      expect(seen).toEqual(['action'])
      await dropMysqlDatabase(pool)
    })
    it.each<{ of: string; options?: PoolOptions; session?: string }>([
      { of: 'utf8mb4' },
      {
        of: 'NO_BACKSLASH_ESCAPES and ANSI_QUOTES',
        session: "sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES,STRICT_ALL_TABLES'",
      },
      { of: 'GBK', options: { charset: 'GBK_CHINESE_CI' } },
      { of: 'SJIS', options: { charset: 'SJIS_JAPANESE_CI' } },
      { of: 'literals in UTF-16', session: 'collation_connection = utf16_general_ci' },
      { of: 'literals in SWE7', session: 'character_set_connection = swe7' },
      { of: 'named placeholders', options: { namedPlaceholders: true } },
      { of: 'a format of the user’s own', options: { queryFormat: strictFormat } },
    ])('Keys and answers are kept to the byte through connections of $of', async ({ options, session }) => {
      const plain = await openMysqlDatabase(url)
      const [rows] = await plain.query<RowDataPacket[]>('SELECT DATABASE() AS name')
      const pool = createPool({ uri: `${url}/${rows[0]?.name}`, connectionLimit: 1, ...options })
      if (session !== undefined) await pool.query(`SET SESSION ${session}`)
      const branch = groupedBranch(mysqlGroupBarrier(pool), { key: () => 'one', apply: answerEntries })
      const signs = Array.from({ length: 95 }, (_, at) => String.fromCodePoint(32 + at))
      const gids = [...signs.map((sign) => `g${sign}n`), 'é', '裏', '表\\', 'it\'s :here? {"n":1}']
      const toCall = (gid: string) => ({ gid, branchId: '01', op: 'action' }) as const
      const ask = () => Promise.all(gids.map((gid) => branch.run(toCall(gid), () => ({ [gid]: 1 }))))
      const answers = gids.map((gid) => JSON.stringify({ [gid]: 1 }))
      expect(await ask()).toEqual(answers.map((answer) => ({ decision: 'run', answer })))
      expect(await ask()).toEqual(answers.map((answer) => ({ decision: 'duplicate', answer })))
      for (const [at, gid] of gids.entries()) {
        const outcome = await mysqlBarrier(plain).run(toCall(gid), () => 'again')
        expect(outcome).toEqual({ decision: 'duplicate', answer: answers[at] })
      }
      await pool.end()
      await dropMysqlDatabase(plain)
    })
    it('A group sees what was committed since its connection was left in an open transaction', async () => {
      const pool = await openMysqlDatabase(url, { connectionLimit: 1 })
      await pool.query('SET SESSION autocommit = 0')
      const branch = groupedBranch(mysqlGroupBarrier(pool), { key: () => 'one', apply: answerEntries })
      const calls = ['a', 'b', 'c', 'd'].map((gid) => ({ gid, branchId: '01', op: 'action' }) as const)
      const ask = async () => {
        const outcomes = await Promise.all(calls.map((call) => branch.run(call, () => 'done')))
        return outcomes.map(({ decision }) => decision)
      }
      expect([await ask(), await ask()]).toEqual([Array(4).fill('run'), Array(4).fill('duplicate')])
      const [rows] = await pool.query<RowDataPacket[]>(
        'SELECT DATABASE() AS name, COUNT(*) AS number FROM counterstep_barrier',
      )
      expect(rows[0]?.number).toBe(4)
      const elsewhere = createPool({ uri: `${url}/${rows[0]?.name}` })
      for (const call of calls)
        await mysqlBarrier(elsewhere).run({ ...call, op: 'compensate' }, () => 'undone')
      await elsewhere.end()
      expect(await ask()).toEqual(Array(4).fill('already-compensated'))
      await dropMysqlDatabase(pool)
    })
    it('A call that is alone costs no statement more than with the plain barrier, and a group costs two', async () => {
      const pool = await openMysqlDatabase(url)
      const texts: string[] = []
      const barrier = mysqlGroupBarrier(beforeEachStatement(pool, (sql) => texts.push(sql)))
      const branch = groupedBranch(barrier, {
        key: () => 'one',
        apply: async (tx, calls) => {
          await write(tx, calls)
          return calls.map(() => 'done')
        },
      })
      const call = { gid: 'plain', branchId: '01', op: 'action' } as const
      await barrier.run(call, async (tx) => {
        await write(tx, [{ call, entry: 0 }])
        return 'done'
      })
      const plain = texts.splice(0).map(readWord)
      await branch.run({ ...call, gid: 'alone' }, () => 0)
      expect(texts.splice(0).map(readWord)).toEqual(plain)
      await Promise.all(['a', 'b', 'c', 'd'].map((gid) => branch.run({ ...call, gid }, () => 0)))
      const [start, insert, effect, , commit] = plain
      const grouped = [start, 'SET', insert, effect, 'SET', 'INSERT', commit]
      expect(texts.splice(0).map(readWord)).toEqual(grouped)
      // Each call comes twice: what only repeats is not asked of the database.
      const twice = ['e', 'f', 'g', 'e', 'f', 'g'].map((gid) => ({ ...call, gid }))
      await Promise.all(twice.map((each) => branch.run(each, () => 0)))
      expect(texts.splice(0).map(readWord)).toEqual(grouped)
      await dropMysqlDatabase(pool)
    })
    it('A connection is given back with the lock wait that it came with, whatever becomes of the group', async () => {
      const pool = await openMysqlDatabase(url, { connectionLimit: 1 })
      await pool.query('SET SESSION innodb_lock_wait_timeout = 37')
      const lockWait = async (tx: Pick<PoolConnection, 'query'>): Promise<number> => {
        const [rows] = await tx.query<RowDataPacket[]>('SELECT @@innodb_lock_wait_timeout AS seconds')
        return Number(rows[0]?.seconds)
      }
      const within: number[] = []
      const branch = groupedBranch(mysqlGroupBarrier(pool), {
        key: () => 'one',
        apply: async (tx, calls) => {
          within.push(await lockWait(tx))
          if (calls.some(({ entry }) => entry === 'throw')) throw new Error('broken')
          return calls.map(({ entry }) => (entry === 'refuse' ? new BranchFailure('no') : entry))
        },
      })
      let gids = 0
      for (const entry of ['succeed', 'refuse', 'throw']) {
        within.splice(0)
        const calls = [0, 1].map(() => ({ gid: `wait-${++gids}`, branchId: '01', op: 'action' }) as const)
        await Promise.allSettled(calls.map((call) => branch.run(call, () => entry)))
        expect([entry, new Set(within), await lockWait(pool)]).toEqual([entry, new Set([1]), 37])
      }
      await dropMysqlDatabase(pool)
    })
    it('An account whose id a BINARY column has padded is not called unknown', async () => {
      const pool = await openMysqlDatabase(url)
      await pool.query('CREATE TABLE fixed (id BINARY(8) PRIMARY KEY, cents BIGINT NOT NULL) ENGINE = InnoDB')
      await pool.query("INSERT INTO fixed VALUES ('alice', 5), ('whole678', 5)")
      const connection = await pool.getConnection()
      const apply = conditionalAdd({ table: 'fixed', valueColumn: 'cents' })
      const call = { gid: 'fixed', branchId: '01', op: 'action' } as const
      const ids = ['alice', 'whole678', 'alice\0\0\0', 'nobody78', 'much too long']
      await connection.beginTransaction()
      const results = await apply(
        connection,
        ids.map((id) => ({ call, entry: { id, delta: 1 } })),
      )
      await connection.commit()
      expect(results.slice(1, 3)).toEqual([{ value: '6' }, { value: '6' }])
      expect(results[3]).toMatchObject({ code: 'UNKNOWN_ACCOUNT' })
      for (const refused of [results[0], results[4]]) {
        expect(refused).toMatchObject({ message: expect.stringMatching(/BINARY\(8\)/) })
        expect(refused).not.toBeInstanceOf(BranchFailure)
      }
      connection.release()
      await dropMysqlDatabase(pool)
    })
    for (const type of ['FLOAT', 'FLOAT(10,0)', 'DOUBLE'])
      it(`Nothing is added to a value of ${type}, which would be rounded`, async () => {
        const pool = await openMysqlDatabase(url)
        await pool.query(`CREATE TABLE rounded (id INT PRIMARY KEY, cents ${type} NOT NULL) ENGINE = InnoDB`)
        await pool.query('INSERT INTO rounded VALUES (1, 16777216)')
        const connection = await pool.getConnection()
        const apply = conditionalAdd({ table: 'rounded', valueColumn: 'cents' })
        const call = { gid: 'rounded', branchId: '01', op: 'action' } as const
        await connection.beginTransaction()
        await expect(apply(connection, [{ call, entry: { id: 1, delta: 1 } }])).rejects.toThrow(
          /whole numbers/,
        )
        await connection.rollback()
        connection.release()
        await dropMysqlDatabase(pool)
      })
    it('An addition to a column that would clip the value is an error without a strict sql_mode', async () => {
      const pool = await openMysqlDatabase(url)
      await pool.query(
        'CREATE TABLE narrow (id INT(4) ZEROFILL PRIMARY KEY, cents INT UNSIGNED NOT NULL) ENGINE = InnoDB',
      )
      await pool.query('INSERT INTO narrow VALUES (7, 100)')
      const connection = await pool.getConnection()
      const add = async (gid: string, id: string, delta: number, min: 0 | null = null) => {
        await connection.beginTransaction()
        const apply = conditionalAdd({ table: 'narrow', valueColumn: 'cents', min })
        const call = { gid, branchId: '01', op: 'action' } as const
        try {
          return await apply(connection, [{ call, entry: { id, delta } }])
        } finally {
          await connection.commit()
        }
      }
      const [refused] = await add('written otherwise', '7', 1)
      expect(refused).toBeInstanceOf(Error)
      expect(refused).not.toBeInstanceOf(BranchFailure)
      expect(await add('strict', '0007', 1)).toEqual([{ value: '101' }])
      expect(await add('too large', '0007', 10_000_000_000)).toMatchObject([{ code: 'OUT_OF_RANGE' }])
      expect(await add('below zero', '0007', -102)).toMatchObject([{ code: 'OUT_OF_RANGE' }])
      expect(await add('below the minimum', '0007', -102, 0)).toMatchObject([{ code: 'INSUFFICIENT' }])
      await connection.query("SET SESSION sql_mode = ''")
      await expect(add('loose', '0007', 10_000_000_000)).rejects.toThrow(/strict sql_mode/)
      const [rows] = await connection.query<RowDataPacket[]>('SELECT cents FROM narrow')
      expect(rows).toEqual([{ cents: 101 }])
      connection.destroy()
      await dropMysqlDatabase(pool)
    })
    conditionalAddSuite(server, async () => {
      const pool = await openMysqlDatabase(url)
      // The collation of the database takes letter cases for one; the other pads, too.
      await pool.query(
        'CREATE TABLE account (id VARCHAR(64) PRIMARY KEY, cents BIGINT NOT NULL) ENGINE = InnoDB',
      )
      await pool.query('CREATE TABLE numbered (id BIGINT PRIMARY KEY, cents INT NOT NULL) ENGINE = InnoDB')
      await pool.query(
        'CREATE TABLE ledger (number BIGINT AUTO_INCREMENT PRIMARY KEY, gid VARCHAR(128), op VARCHAR(16), account VARCHAR(64), cents BIGINT) ENGINE = InnoDB',
      )
      return {
        barrier: mysqlGroupBarrier(pool),
        conditionalAdd,
        execute: async (sql) => {
          await pool.query(sql)
        },
        column: async (sql) => {
          const [rows] = await pool.query<RowDataPacket[]>(sql)
          return rows.map(({ found }) => String(found))
        },
        literal: (text) => pool.escape(text),
        lockOnly: async (id, table = 'account') => {
          const connection = await pool.getConnection()
          await connection.beginTransaction()
          await connection.query(`SELECT cents FROM ${table} WHERE id = ? FOR UPDATE`, [id])
          return async () => {
            await connection.rollback()
            connection.release()
          }
        },
        hasNarrowIntegers: true,
        widenKey: 'ALTER TABLE altered MODIFY id BIGINT',
        close: () => dropMysqlDatabase(pool),
      }
    })
  })
}
