import { EventEmitter, once } from 'node:events'
import type { Socket } from 'node:net'
import { describeOn } from '@counterstep/test-servers/vitest'
import {
  type Connection as CallbackConnection,
  createPool as createCallbackPool,
  type PrepareStatementInfo,
} from 'mysql2'
import { createPool, type Pool, type PoolConnection, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unwrapLease } from '../../src/barrier/lease.ts'
import {
  checkBarrier,
  migrateBarrier,
  mysqlBarrier,
  mysqlBarrierIn,
  purgeBarrier,
} from '../../src/barrier/mysql.ts'
import type { GroupApply, GroupCall } from '../../src/grouped/group-barrier.ts'
import { groupedBranch } from '../../src/grouped/grouped.ts'
import { conditionalAdd, mysqlGroupBarrier } from '../../src/grouped/mysql.ts'
import { type BarrierCall, BranchFailure, BranchOngoing, withBarrier } from '../../src/index.ts'
import { barrierSuite } from '../barrier/barrier-suite.ts'
import { messageSuite } from '../barrier/message-suite.ts'
import {
  actOnMysql,
  beforeEachStatement,
  countMysqlRows,
  dropMysqlDatabase,
  mysqlEffects,
  openMysqlDatabase,
  openMysqlFixture,
  readWord,
} from './mysql-fixture.ts'

const SUCCEED = { does: 'succeed' } as const
const DEADLOCK = 1213
const FORGOTTEN = {
  code: 'BARRIER_TRANSACTION_LOST',
  message: expect.stringContaining('an await was forgotten'),
}

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'the MySQL barrier', (url) => {
    barrierSuite({ name: server, open: () => openMysqlFixture(url), width: 64 })
    messageSuite({ name: server, open: () => openMysqlFixture(url), width: 64 })
    barrierSuite({
      name: `${server} with other flags and values`,
      open: () => openMysqlFixture(url, { flags: ['-FOUND_ROWS'], rowsAsArray: true, typeCast: false }),
      pairs: 20,
      width: 20,
    })

    describe('beside the truth table', () => {
      let pool: Pool
      let gids = 0
      const newCall = (): BarrierCall => ({ gid: `more-${++gids}`, branchId: '01', op: 'action' })
      beforeAll(async () => {
        pool = await openMysqlDatabase(url)
      })
      afterAll(() => dropMysqlDatabase(pool))

      const inTransaction = async (work: (connection: PoolConnection) => Promise<void>): Promise<void> => {
        const connection = await pool.getConnection()
        try {
          await connection.beginTransaction()
          await work(connection)
        } finally {
          await connection.rollback()
          connection.release()
        }
      }

      it('A call runs again as a whole after a deadlock, and then commits once', async () => {
        const call = newCall()
        let runs = 0
        const barrier = mysqlBarrier(pool)
        await inTransaction(async (other) => {
          await other.query('INSERT INTO effect (number, gid, op) VALUES (900, ?, ?)', ['other', 'x'])
          const outcome = await barrier.run(call, async (tx) => {
            await actOnMysql(tx, call, SUCCEED)
            // The driver's error is wrapped as a query builder does.
            const deadlock = Object.assign(new Error('Deadlock found'), { errno: DEADLOCK })
            if (++runs < 3) throw new Error('the query failed', { cause: deadlock })
          })
          expect(outcome.decision).toBe('run')
        })
        expect([runs, await mysqlEffects(pool, call.gid)]).toEqual([3, ['action']])
      })

      it('The barrier gives up repeating after its bound, with a code that is no failure', async () => {
        const call = newCall()
        const running = mysqlBarrier(pool).run(call, () => {
          throw Object.assign(new Error('Deadlock found'), { errno: DEADLOCK })
        })
        await expect(running).rejects.toMatchObject({ code: 'BARRIER_CONTENDED', meaning: 'unavailable' })
        expect(await countMysqlRows(pool, call.gid)).toBe(0)
      })

      it('The barrier gives up repeating when the time of the call is over', async () => {
        const running = mysqlBarrier(pool, { timeoutMs: 150 }).run(newCall(), () => {
          throw Object.assign(new Error('Deadlock found'), { errno: DEADLOCK })
        })
        await expect(running).rejects.toMatchObject({ code: 'BARRIER_TIMED_OUT', meaning: 'unavailable' })
      })

      describe('in a real deadlock', () => {
        beforeAll(async () => {
          await pool.query("INSERT INTO effect (number, gid, op) VALUES (1001, 'a', 'x'), (1002, 'b', 'x')")
          await pool.query(
            'CREATE TABLE weight (number INT PRIMARY KEY AUTO_INCREMENT, note VARCHAR(9)) ENGINE = InnoDB',
          )
        })

        /** Runs an effect whose statement `meet` is the victim of a deadlock in its first run. Returns the runs and the outcome. */
        const runAsVictim = async (
          barrierPool: Pool,
          call: BarrierCall,
          effect: (tx: PoolConnection, meet: () => Promise<unknown>) => Promise<unknown>,
        ): Promise<[number, unknown]> => {
          let runs = 0
          let outcome: unknown
          await inTransaction(async (other) => {
            // It has changed more rows than the barrier's side, so the server picks the barrier's side as the victim.
            for (let row = 0; row < 20; row++) await other.query("INSERT INTO weight (note) VALUES ('heavy')")
            await other.query("UPDATE effect SET op = 'y' WHERE number = 1001")
            const running = mysqlBarrier(barrierPool).run(call, async (tx) => {
              if (++runs > 1) return actOnMysql(tx, call, SUCCEED)
              await tx.query("UPDATE effect SET op = 'z' WHERE number = 1002")
              const crossing = other.query("UPDATE effect SET op = 'y' WHERE number = 1002")
              const done = await effect(tx, () => tx.query("UPDATE effect SET op = 'z' WHERE number = 1001"))
              await crossing
              return done
            })
            outcome = await running.catch((error: unknown) => error)
          })
          return [runs, outcome]
        }

        it('Nothing is committed of an effect that swallows it and goes on', async () => {
          const call = newCall()
          const outcome = await runAsVictim(pool, call, async (tx, meet) => {
            await meet().catch((error: unknown) => error)
            return actOnMysql(tx, call, SUCCEED)
          })
          expect(outcome).toMatchObject([1, { code: 'BARRIER_TRANSACTION_LOST' }])
          expect([await countMysqlRows(pool, call.gid), await mysqlEffects(pool, call.gid)]).toEqual([0, []])
        })

        it('An effect may read the rows of a statement as events', async () => {
          const call = newCall()
          const outcome = await mysqlBarrier(pool).run(call, async (tx) => {
            const rows: unknown[] = []
            for (let round = 0; round < 2; round++) {
              const query = findRaw(tx)
                .query('SELECT 1 AS one')
                .on('result', (row) => rows.push(row))
              await once(query, 'end')
            }
            await actOnMysql(tx, call, SUCCEED)
            return rows.length
          })
          expect(outcome).toEqual({ decision: 'run', answer: '2' })
          expect(await mysqlEffects(pool, call.gid)).toEqual(['action'])
        })

        for (const [way, write] of [
          ['the handle', (tx: PoolConnection, call: BarrierCall) => actOnMysql(tx, call, SUCCEED)],
          [
            'the raw connection',
            (tx: PoolConnection, call: BarrierCall) =>
              new Promise((resolve, reject) => {
                const sql = 'INSERT INTO effect (gid, op) VALUES (?, ?)'
                findRaw(tx).query(sql, [Buffer.from(call.gid), call.op], (error) =>
                  error === null ? resolve(sql) : reject(error),
                )
              }),
          ],
          [
            'a prepared statement',
            async (tx: PoolConnection, call: BarrierCall) => {
              const statement = await tx.prepare('INSERT INTO effect (gid, op) VALUES (?, ?)')
              return statement.execute([Buffer.from(call.gid), call.op])
            },
          ],
        ] as const) {
          it(`An effect runs once that sends another statement by ${way} behind the one that meets it`, async () => {
            const call = newCall()
            const small = createPool({ uri: `${url}/${await readDatabase(pool)}`, connectionLimit: 1 })
            const outcome = await runAsVictim(small, call, async (tx, meet) =>
              Promise.all([meet(), write(tx, call)]),
            )
            expect(outcome).toMatchObject([2, { decision: 'run' }])
            expect(await mysqlEffects(pool, call.gid)).toEqual(['action'])
            // The connection goes back to its pool as it came.
            const [[setting]] = await small.query<RowDataPacket[]>(
              'SELECT @@SESSION.autocommit AS autocommit',
            )
            expect(setting).toEqual({ autocommit: 1 })
            await small.end()
          })
        }
      })

      describe('around a part of an effect that nothing waits for', () => {
        beforeAll(async () => {
          await pool.query("INSERT INTO effect (number, gid, op) VALUES (2001, 'a', 'x'), (2002, 'b', 'x')")
          await pool.query('CREATE TABLE ballast (number INT PRIMARY KEY) ENGINE = InnoDB')
        })

        /** Runs effects with a part that goes on, and whose next statement would be the victim of a deadlock. Returns how that ended. */
        const runWithLatePart = async (
          calls: readonly BarrierCall[],
          run: (effect: (tx: PoolConnection) => Promise<string>) => Promise<unknown>,
        ): Promise<unknown[]> => {
          let late: Promise<unknown> | undefined
          let crossing: Promise<unknown> | undefined
          let outcome: unknown
          await inTransaction(async (other) => {
            for (let row = 0; row < 20; row++) await other.query('INSERT INTO ballast VALUES (?)', [row])
            await other.query("UPDATE effect SET op = 'y' WHERE number = 2001")
            outcome = await run(async (tx) => {
              for (const call of calls) await actOnMysql(tx, call, SUCCEED)
              await tx.query("UPDATE effect SET op = 'z' WHERE number = 2002")
              crossing = other.query("UPDATE effect SET op = 'y' WHERE number = 2002")
              late = tx
                .query('SELECT 1')
                .then(() => tx.query("UPDATE effect SET op = 'z' WHERE number = 2001"))
                .catch((error: unknown) => error)
              return 'paid'
            })
            await crossing
          })
          return [outcome, await late]
        }

        it('It cannot take an answered effect along: its next statement is refused, and all is rolled back', async () => {
          const call = newCall()
          expect(
            await runWithLatePart([call], (effect) => mysqlBarrier(pool).run(call, effect).catch(keep)),
          ).toMatchObject([FORGOTTEN, { code: 'BARRIER_TRANSACTION_LOST' }])
          expect([await countMysqlRows(pool, call.gid), await mysqlEffects(pool, call.gid)]).toEqual([0, []])
        })

        it('Nothing of an effect is committed of which a part sends a statement behind its end', async () => {
          const ways: readonly ((tx: PoolConnection, call: BarrierCall) => Promise<unknown>)[] = [
            (tx, call) => actOnMysql(tx, call, SUCCEED).then(() => actOnMysql(tx, call, SUCCEED)),
            (tx, call) => actOnMysql(tx, call, SUCCEED).then(() => tx.execute('SELECT 1')),
            (tx, call) => actOnMysql(tx, call, SUCCEED).then(() => tx.prepare('SELECT 1')),
            (tx, call) =>
              actOnMysql(tx, call, SUCCEED).then(() =>
                toPromise((done) => findRaw(tx).query('SELECT 1', [], done)),
              ),
          ]
          for (const begin of ways) {
            const call = newCall()
            let late: Promise<unknown> | undefined
            const running = mysqlBarrier(pool).run(call, (tx) => {
              late = begin(tx, call).catch(keep)
              return 'paid'
            })
            await expect(running).rejects.toMatchObject(FORGOTTEN)
            expect(await late).toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
            expect([await countMysqlRows(pool, call.gid), await mysqlEffects(pool, call.gid)]).toEqual([
              0,
              [],
            ])
          }
        })

        /** The event of an untaken rejection would end the run. This takes it without the barrier hearing of it. */
        const take = (floating: Promise<unknown>) =>
          void Promise.prototype.then.call(floating, undefined, () => undefined)
        const FAILING = "INSERT INTO effect (number, gid, op) VALUES ('none', 'x', 'y')"
        const FLOATING: readonly (readonly [string, (tx: PoolConnection) => unknown])[] = [
          ['when the effect has settled', (tx) => take(tx.query(FAILING))],
          [
            'before the next one that the effect waits for',
            (tx) => {
              take(tx.query(FAILING))
              return tx.query('SELECT 1').then(() => 'paid')
            },
          ],
        ]
        it.each(FLOATING)(
          'Nothing of an effect is committed whose statement fails %s, and for which nothing waits',
          async (_, end) => {
            const call = newCall()
            const running = mysqlBarrier(pool).run(call, async (tx) => {
              await actOnMysql(tx, call, SUCCEED)
              return end(tx)
            })
            await expect(running).rejects.toMatchObject(FORGOTTEN)
            expect([await countMysqlRows(pool, call.gid), await mysqlEffects(pool, call.gid)]).toEqual([
              0,
              [],
            ])
          },
        )

        it('An effect may bear the failure of a statement that it has waited for in any way', async () => {
          const ways: readonly ((tx: PoolConnection) => Promise<unknown>)[] = [
            (tx) => tx.query(FAILING).catch(keep),
            (tx) => Promise.allSettled([tx.query(FAILING), tx.query('SELECT 1')]),
            async (tx) => {
              try {
                await tx.execute(FAILING)
              } catch {
                // The effect bears it.
              }
            },
            async (tx) => {
              const failing = tx.query(FAILING)
              take(failing)
              await tx.query('SELECT 1')
              return failing.catch(keep)
            },
            (tx) => toPromise((done) => findRaw(tx).query(FAILING, [], done)).catch(keep),
            // It says that it bears the failure, and does not wait for the answer.
            async (tx) => void tx.query(FAILING).catch(keep),
          ]
          for (const way of ways) {
            const call = newCall()
            const { decision } = await mysqlBarrier(pool).run(call, async (tx) => {
              await actOnMysql(tx, call, SUCCEED)
              await way(tx)
              return 'paid'
            })
            expect([decision, await mysqlEffects(pool, call.gid)]).toEqual(['run', ['action']])
          }
        })

        it('It cannot take a group along that is answered: the group is rolled back', async () => {
          const calls = [newCall(), newCall()]
          const { groupRunner } = mysqlGroupBarrier(pool)
          const passes = calls.map((call) => ({ admitted: groupRunner.admit(call), entry: () => 0 }))
          const [verdicts, late] = await runWithLatePart(calls, (effect) =>
            groupRunner
              .run(passes, async (tx, { length }) => Array(length).fill(await effect(tx)))
              .catch(keep),
          )
          expect(verdicts).toMatchObject(FORGOTTEN)
          expect(late).toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
          for (const { gid } of calls)
            expect([await countMysqlRows(pool, gid), await mysqlEffects(pool, gid)]).toEqual([0, []])
        })
      })

      describe('around a savepoint of the effect', () => {
        const duplicate = (tx: PoolConnection) => tx.query('INSERT INTO tag VALUES (1)')
        const swallow = (error: unknown) => error
        const SWALLOWED: readonly (readonly [string, (tx: PoolConnection) => Promise<unknown>])[] = [
          [
            'ROLLBACK TO',
            async (tx) => {
              await tx.query('SAVEPOINT sp')
              await duplicate(tx).catch(() => tx.query('ROLLBACK TO SAVEPOINT sp'))
            },
          ],
          [
            'ROLLBACK TO behind statements side by side',
            async (tx) => {
              await tx.query('SAVEPOINT sp')
              const both = Promise.all([tx.query('INSERT INTO tag VALUES (51)'), duplicate(tx)])
              await both.catch(() => tx.query('ROLLBACK WORK TO sp'))
            },
          ],
          [
            'RELEASE',
            async (tx) => {
              await tx.query('-- one\nsavepoint `sp`')
              await duplicate(tx).catch(swallow)
              await tx.query('RELEASE SAVEPOINT sp')
            },
          ],
          [
            'one within another',
            async (tx) => {
              await tx.query('SAVEPOINT outer_one')
              await tx.query('SAVEPOINT inner_one')
              await tx.query('SELEC 1').catch(() => tx.query('ROLLBACK TO SAVEPOINT inner_one'))
              await duplicate(tx).catch(() => tx.query('ROLLBACK TO SAVEPOINT outer_one'))
            },
          ],
        ]
        beforeAll(async () => {
          await pool.query('CREATE TABLE tag (number INT PRIMARY KEY) ENGINE = InnoDB')
          await pool.query('INSERT INTO tag VALUES (1)')
          await pool.query("INSERT INTO effect (number, gid, op) VALUES (3001, 'a', 'x'), (3002, 'b', 'x')")
        })
        for (const [way, fail] of SWALLOWED) {
          it(`An error that it swallows by that does not fail its call: ${way}`, async () => {
            const call = newCall()
            const back = { ...call, op: 'compensate' } as const
            for (const each of [call, back]) {
              const outcome = await mysqlBarrier(pool).run(each, async (tx) => {
                await fail(tx)
                await actOnMysql(tx, each, SUCCEED)
              })
              expect(outcome.decision).toBe('run')
            }
            expect(await mysqlEffects(pool, call.gid)).toEqual(['action', 'compensate'])
            const { groupRunner } = mysqlGroupBarrier(pool)
            const passes = [newCall(), newCall()].map((each) => ({
              admitted: groupRunner.admit(each),
              entry: () => 0,
            }))
            const verdicts = await groupRunner.run(passes, async (tx, { length }) => {
              await fail(tx)
              return Array(length).fill('done')
            })
            expect(verdicts).toMatchObject(Array(2).fill({ outcome: { decision: 'run' } }))
          })
        }

        it('A deadlock that it swallows by that is noticed, and nothing is committed', async () => {
          const call = newCall()
          let runs = 0
          await inTransaction(async (other) => {
            for (let row = 100; row < 120; row++) await other.query('INSERT INTO tag VALUES (?)', [row])
            await other.query("UPDATE effect SET op = 'y' WHERE number = 3001")
            const running = mysqlBarrier(pool).run(call, async (tx) => {
              runs++
              await tx.query('SAVEPOINT sp')
              await tx.query("UPDATE effect SET op = 'z' WHERE number = 3002")
              const crossing = other.query("UPDATE effect SET op = 'y' WHERE number = 3002")
              const meet = tx.query("UPDATE effect SET op = 'z' WHERE number = 3001")
              await meet.catch(() => tx.query('ROLLBACK TO SAVEPOINT sp').catch(swallow))
              await crossing
              await tx.query('SAVEPOINT sp')
              await actOnMysql(tx, call, SUCCEED)
              await tx.query('RELEASE SAVEPOINT sp')
            })
            await expect(running).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
          })
          expect([runs, await countMysqlRows(pool, call.gid), await mysqlEffects(pool, call.gid)]).toEqual([
            1,
            0,
            [],
          ])
        })

        it('A COMMIT of other code behind it is noticed', async () => {
          const call = newCall()
          const running = mysqlBarrier(pool).run(call, async (tx) => {
            await tx.query('SAVEPOINT sp')
            await duplicate(tx).catch(() => tx.query('ROLLBACK TO SAVEPOINT sp'))
            await sendUnguarded(tx, 'COMMIT')
            await actOnMysql(tx, call, SUCCEED)
            throw new BranchFailure('said no')
          })
          await expect(running).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
          expect(await mysqlEffects(pool, call.gid)).toEqual([])
        })
      })

      const REFUSED: readonly (readonly [string, (tx: PoolConnection) => unknown])[] = [
        ['query', (tx) => tx.query('ROLLBACK')],
        ['an object', (tx) => tx.query({ sql: '/*!50000 commit */' })],
        ['execute', (tx) => tx.execute('# done\nCOMMIT AND CHAIN')],
        ['prepare', (tx) => tx.prepare('BEGIN')],
        ['one of several statements', (tx) => tx.query("SELECT ';'; START TRANSACTION")],
        ['the raw connection', (tx) => toPromise((done) => findRaw(tx).query('begin', [], done))],
        ['its promise()', (tx) => findRaw(tx).promise().query('ROLLBACK')],
        ['commit() of the raw connection', (tx) => toPromise((done) => findRaw(tx).commit(done))],
        ['rollback() without a callback', async (tx) => (findRaw(tx).rollback as () => void)()],
        ['beginTransaction()', (tx) => tx.beginTransaction()],
        ['commit()', (tx) => tx.commit()],
        ['rollback()', (tx) => tx.rollback()],
        ['changeUser()', (tx) => tx.changeUser({})],
        ['autocommit', (tx) => tx.query('SET autocommit = 1')],
        ['autocommit of the session', (tx) => tx.query('SET @@session.autocommit = 0')],
        ['reset()', (tx) => tx.reset()],
      ]
      it.each(REFUSED)('An effect that would end its transaction is refused that: %s', async (_, end) => {
        const call = newCall()
        const barrier = mysqlBarrier(pool)
        const refused = { code: 'BARRIER_STATEMENT_REFUSED' }
        for (let attempt = 0; attempt < 2; attempt++) {
          const running = barrier.run(call, async (tx) => {
            await actOnMysql(tx, call, SUCCEED)
            await end(tx)
          })
          await expect(running).rejects.toMatchObject(refused)
        }
        expect([await countMysqlRows(pool, call.gid), await mysqlEffects(pool, call.gid)]).toEqual([0, []])
        // An effect that goes on without it does so in its transaction.
        const outcome = await barrier.run(call, async (tx) => {
          expect(await Promise.resolve(end(tx)).catch((error: unknown) => error)).toMatchObject(refused)
          return actOnMysql(tx, call, SUCCEED)
        })
        expect(outcome.decision).toBe('run')
        expect(await mysqlEffects(pool, call.gid)).toEqual(['action'])
      })

      it('A call that is repeated on another connection runs once, though its effect changes the database', async () => {
        const tenant = await openMysqlDatabase(url)
        const name = await readDatabase(tenant)
        const call = newCall()
        const runOnFresh = async (): Promise<unknown> => {
          const fresh = createPool({ uri: `${url}/${await readDatabase(pool)}`, connectionLimit: 1 })
          const run = () =>
            mysqlBarrier(fresh).run(call, async (tx) => {
              await tx.query(`USE ${name}`)
              await tx.execute('INSERT INTO effect (gid, op) VALUES (?, ?)', [Buffer.from(call.gid), call.op])
            })
          await expect(run()).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
          const outcome = await run()
          await fresh.end()
          return outcome.decision
        }
        expect([await runOnFresh(), await runOnFresh()]).toEqual(['run', 'duplicate'])
        expect(await mysqlEffects(tenant, call.gid)).toEqual(['action'])
        await dropMysqlDatabase(tenant)
      })

      it('Rows are read alike, however the pool nests the columns of tables', async () => {
        const nesting = createPool({
          uri: `${url}/${await readDatabase(pool)}`,
          connectionLimit: 1,
          nestTables: true,
        })
        const call = newCall()
        const barrier = mysqlBarrier(nesting)
        expect(await barrier.run({ ...call, op: 'compensate' }, () => 7)).toMatchObject({
          decision: 'null-compensation',
        })
        expect(await barrier.run(call, () => 7)).toMatchObject({ decision: 'already-compensated' })
        await nesting.end()
      })

      it('A pool is refused where a connection is needed', () => {
        expect(() => mysqlBarrierIn(pool as unknown as PoolConnection)).toThrow('this is a mysql2 pool')
      })

      it('A savepoint of a stored procedure may take that of the barrier along', async () => {
        await pool.query('CREATE PROCEDURE save_it() SAVEPOINT saved')
        const ways = ['CALL save_it()', "PREPARE one FROM 'SAVEPOINT saved'; EXECUTE one"]
        for (const save of server === 'mariadb' ? ways : ways.slice(0, 1)) {
          const call = newCall()
          const outcome = await mysqlBarrier(pool).run(call, async (tx) => {
            for (const statement of save.split('; ')) await tx.query(statement)
            await tx.query('SAVEPOINT other')
            await tx.query('ROLLBACK TO saved')
            return actOnMysql(tx, call, SUCCEED)
          })
          expect(outcome.decision).toBe('run')
          const refused = newCall()
          const running = mysqlBarrier(pool).run(refused, async (tx) => {
            for (const statement of save.split('; ')) await tx.query(statement)
            await tx.query('SAVEPOINT other')
            await tx.query('ROLLBACK TO saved')
            throw new BranchFailure('said no')
          })
          await expect(running).rejects.toThrow('said no')
          const lost = newCall()
          const losing = mysqlBarrier(pool).run(lost, async (tx) => {
            await tx.query('SAVEPOINT other')
            await sendUnguarded(tx, 'ROLLBACK')
            await sendUnguarded(tx, 'START TRANSACTION')
            return actOnMysql(tx, lost, SUCCEED)
          })
          await expect(losing).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
          expect([await mysqlEffects(pool, call.gid), await mysqlEffects(pool, lost.gid)]).toEqual([
            ['action'],
            [],
          ])
        }
      })

      it('A row is no answer of the server, whatever its columns are called', async () => {
        const call = newCall()
        const outcome = await mysqlBarrier(pool).run(call, async (tx) => {
          await tx.query('SELECT 1 AS affectedRows, 0 AS serverStatus, NULL AS constructor')
          return actOnMysql(tx, call, SUCCEED)
        })
        expect(outcome.decision).toBe('run')
      })

      if (server === 'mariadb') {
        it.each([
          'IF 1 = 1 THEN INSERT INTO effect (gid, op) VALUES (?, "x"); BEGIN END; END IF',
          'FOR one IN 1..1 DO INSERT INTO effect (gid, op) VALUES (?, "x"); END FOR',
          'CASE 1 WHEN 1 THEN INSERT INTO effect (gid, op) VALUES (?, "x"); END CASE',
          'WHILE NOT EXISTS (SELECT 1 FROM effect WHERE op = "x" AND gid = @one) DO SET @one = ?; INSERT INTO effect (gid, op) VALUES (@one, "x"); END WHILE',
          'REPEAT INSERT INTO effect (gid, op) VALUES (?, "x"); UNTIL 1 = 1 END REPEAT',
          'BEGIN NOT ATOMIC INSERT INTO effect (gid, op) VALUES (?, "x"); END',
        ])('A compound statement of an effect runs: %s', async (statement) => {
          const call = newCall()
          await mysqlBarrier(pool).run(call, (tx) => tx.query(statement, [call.gid]))
          expect(await mysqlEffects(pool, call.gid)).toEqual(['x'])
        })
      }

      it('Nothing more of an effect is sent once the server has said that its transaction has ended', async () => {
        const call = newCall()
        await pool.query('CREATE PROCEDURE end_it() ROLLBACK')
        for (const ending of ['CALL end_it()', 'CREATE TABLE IF NOT EXISTS made_by_a_handler (id int)']) {
          const running = mysqlBarrier(pool).run(call, async (tx) => {
            await tx.query(ending)
            await actOnMysql(tx, call, SUCCEED)
          })
          await expect(running).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
        }
        expect(await mysqlEffects(pool, call.gid)).toEqual([])
      })

      it('A connection is given back to its pool clean or not at all', async () => {
        const small = await openMysqlDatabase(url, { connectionLimit: 1 })
        const barrier = mysqlBarrier(small)
        const call = newCall()
        await expect(barrier.run(call, (tx) => actOnMysql(tx, call, { does: 'fail' }))).rejects.toThrow(
          'said no',
        )
        await expect(
          barrier.run(call, (tx) => {
            tx.destroy()
            throw new Error('the connection broke')
          }),
        ).rejects.toThrow('the connection broke')
        expect((await barrier.run(call, (tx) => actOnMysql(tx, call, SUCCEED))).decision).toBe('run')
        await dropMysqlDatabase(small)
      })

      for (const [raw, write] of [
        ['the handle', (tx: PoolConnection, sql: string) => tx.query(sql)],
        ['its promise()', (tx: PoolConnection, sql: string) => findRaw(tx).promise().query(sql)],
        [
          'the raw connection',
          (tx: PoolConnection, sql: string) =>
            new Promise((resolve, reject) => {
              findRaw(tx).query(sql, (error) => (error === null ? resolve(sql) : reject(error)))
            }),
        ],
      ] as const) {
        it(`No part of a parallel effect writes by ${raw} after another part has failed`, async () => {
          const small = await openMysqlDatabase(url, { connectionLimit: 1 })
          const barrier = mysqlBarrier(small)
          const [call, next] = [newCall(), newCall()]
          let resume = (): void => undefined
          const resumed = new Promise<void>((resolve) => {
            resume = resolve
          })
          let late: Promise<unknown> | undefined
          const debit = async (): Promise<never> => {
            throw new BranchFailure('said no')
          }
          const credit = async (tx: PoolConnection): Promise<void> => {
            await write(tx, 'SELECT 1')
            await resumed
            await write(tx, `INSERT INTO effect (gid, op) VALUES ('${call.gid}', 'late')`)
          }
          const running = barrier.run(call, (tx) => {
            const crediting = credit(tx)
            late = crediting.catch((error: unknown) => error)
            return Promise.all([crediting, debit()])
          })
          await expect(running).rejects.toThrow('said no')
          await barrier.run(next, async (tx) => {
            await actOnMysql(tx, next, SUCCEED)
            resume()
            expect(await late).toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
          })
          expect([await countMysqlRows(small, call.gid), await mysqlEffects(small, call.gid)]).toEqual([
            0,
            [],
          ])
          expect(await mysqlEffects(small, next.gid)).toEqual(['action'])
          await dropMysqlDatabase(small)
        })
      }

      it('A program that has replaced `query` sees each statement, and otherwise the raw connection is asked', async () => {
        const small = await openMysqlDatabase(url, { connectionLimit: 1 })
        const seen: string[] = []
        const watching = (watch: (connection: PoolConnection) => void) => ({
          getConnection: async () => {
            const connection = await small.getConnection()
            watch(connection)
            return connection
          },
        })
        const promised = watching((connection) => {
          const query = connection.query.bind(connection)
          connection.query = ((statement: { readonly sql: string }) => {
            seen.push(`promise ${statement.sql.split(' ')[0]}`)
            return query(statement)
          }) as typeof connection.query
        })
        const watched = new WeakSet<object>()
        const raw = watching((connection) => {
          const owner = findRaw(connection)
          if (watched.has(owner)) return
          watched.add(owner)
          const query = owner.query.bind(owner) as (...values: unknown[]) => unknown
          owner.query = ((statement: { readonly sql: string }, ...values: unknown[]) => {
            seen.push(`raw ${statement.sql.split(' ')[0]}`)
            return query(statement, ...values)
          }) as typeof owner.query
        })
        const statements = ['START', 'INSERT', 'UPDATE', 'COMMIT']
        await mysqlBarrier(promised).run(newCall(), () => undefined)
        expect(seen.splice(0)).toEqual(statements.map((statement) => `promise ${statement}`))
        await mysqlBarrier(raw).run(newCall(), () => undefined)
        expect(seen.splice(0)).toEqual(statements.map((statement) => `raw ${statement}`))
        await small.query('CREATE TABLE counted (id INT PRIMARY KEY, n BIGINT NOT NULL)')
        await small.query('INSERT INTO counted VALUES (1, 0)')
        const apply = conditionalAdd({ table: 'counted', valueColumn: 'n' }) as GroupApply<unknown, unknown>
        const grouped = ['START', 'SET', 'SELECT', 'INSERT', 'UPDATE', 'SET', 'COMMIT']
        // The first group learns of what type the key column is.
        const first = grouped.toSpliced(2, 0, 'SELECT')
        for (const [pool, layer, expected] of [
          [promised, 'promise', first],
          [raw, 'raw', grouped],
        ] as const) {
          seen.length = 0
          const { groupRunner } = mysqlGroupBarrier(pool)
          const passes = [newCall(), newCall(), newCall()].map((call) => ({
            admitted: groupRunner.admit(call),
            entry: () => ({ id: 1, delta: 1 }),
          }))
          expect(await groupRunner.run(passes, apply)).toHaveLength(3)
          const seenThere = seen.filter((statement) => statement.startsWith(layer))
          expect(seenThere).toEqual(expected.map((statement) => `${layer} ${statement}`))
        }
        await dropMysqlDatabase(small)
      })

      it('An effect that a handler committed is not told as rolled back where autocommit is off', async () => {
        const small = await openMysqlDatabase(url, { connectionLimit: 1 })
        const call = newCall()
        const failing = mysqlBarrier(small).run(call, async (tx) => {
          await sendUnguarded(tx, 'SET autocommit = 0')
          await actOnMysql(tx, call, SUCCEED)
          await sendUnguarded(tx, 'COMMIT')
          throw new BranchFailure('said no')
        })
        await expect(failing).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
        await dropMysqlDatabase(small)
      })

      for (const [ending, answer] of [
        ['COMMIT', undefined],
        ['COMMIT', new BranchFailure('said no')],
        ['CREATE TABLE IF NOT EXISTS made_by_a_handler (id int)', undefined],
        ['CREATE TABLE IF NOT EXISTS made_by_a_handler (id int)', new BranchFailure('said no')],
      ] as const) {
        const word = ending.split(' ')[0]
        it(`An effect of statements side by side that ends its transaction is noticed: ${word}, ${answer?.code ?? 'success'}`, async () => {
          const call = newCall()
          const small = createPool({ uri: `${url}/${await readDatabase(pool)}`, connectionLimit: 1 })
          const running = mysqlBarrier(small).run(call, async (tx) => {
            await Promise.all([actOnMysql(tx, call, SUCCEED), tx.query('SELECT count(*) FROM effect')])
            await sendUnguarded(tx, ending)
            await tx.query('SELECT count(*) FROM effect')
            if (answer !== undefined) throw answer
          })
          await expect(running).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
          const [[setting]] = await small.query<RowDataPacket[]>('SELECT @@SESSION.autocommit AS autocommit')
          expect(setting).toEqual({ autocommit: 1 })
          await small.end()
        })
      }

      it('A row that a handler committed before it failed is not replayed as a success', async () => {
        const call = newCall()
        const barrier = mysqlBarrier(pool)
        const failing = barrier.run(call, async (tx) => {
          await sendUnguarded(tx, 'COMMIT')
          throw new BranchFailure('said no')
        })
        await expect(failing).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
        const again = barrier.run(call, (tx) => actOnMysql(tx, call, SUCCEED))
        await expect(again).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
        expect(await mysqlEffects(pool, call.gid)).toEqual([])
      })

      for (const [answer, thrown] of [
        ['failure', new BranchFailure('said no')],
        ['not yet', new BranchOngoing()],
      ] as const) {
        it(`An effect that a handler's DDL committed is not told as rolled back after a ${answer}`, async () => {
          const call = newCall()
          const running = mysqlBarrier(pool).run(call, async (tx) => {
            await actOnMysql(tx, call, SUCCEED)
            await tx.query('CREATE TABLE IF NOT EXISTS made_by_a_handler (id int)')
            throw thrown
          })
          await expect(running).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
          expect(await mysqlEffects(pool, call.gid)).toEqual(['action'])
        })
      }

      for (const [origin, undo] of [
        ['action', 'compensate'],
        ['try', 'cancel'],
      ] as const) {
        it(`The ${undo} of a ${origin} that was committed without its effect does not run`, async () => {
          const call = { ...newCall(), op: origin }
          const barrier = mysqlBarrier(pool)
          const failing = barrier.run(call, async (tx) => {
            await sendUnguarded(tx, 'COMMIT')
            throw new Error('broken on purpose')
          })
          await expect(failing).rejects.toThrow('broken on purpose')
          const back = { ...call, op: undo }
          for (let round = 0; round < 2; round++) {
            const undoing = barrier.run(back, (tx) => actOnMysql(tx, back, SUCCEED))
            await expect(undoing).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
          }
          await inTransaction(async (connection) => {
            await connection.query('SELECT count(*) FROM effect')
            const undoing = mysqlBarrierIn(connection).run(back, (tx) => actOnMysql(tx, back, SUCCEED))
            await expect(undoing).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
          })
          const other = newCall()
          const grouped = groupedBranch(mysqlGroupBarrier(pool), {
            key: () => 'one',
            apply: async (tx, calls: readonly GroupCall<BarrierCall>[]) => {
              for (const { entry } of calls) await actOnMysql(tx, entry, SUCCEED)
              return calls.map(() => undefined)
            },
          })
          const answers = await Promise.allSettled(
            [other, back, newCall()].map((each) => withBarrier(grouped, each, () => each)),
          )
          expect(answers).toMatchObject([
            { status: 'fulfilled' },
            { reason: { code: 'BARRIER_TRANSACTION_LOST' } },
            { status: 'fulfilled' },
          ])
          expect(await mysqlEffects(pool, other.gid)).toEqual(['action'])
          expect([await countMysqlRows(pool, call.gid), await mysqlEffects(pool, call.gid)]).toEqual([1, []])
        })
      }

      it('An undo runs in a transaction of the caller whose snapshot is older than its action', async () => {
        const call = newCall()
        const back = { ...call, op: 'compensate' } as const
        await inTransaction(async (connection) => {
          await connection.query('SELECT count(*) FROM effect')
          await mysqlBarrier(pool).run(call, (tx) => actOnMysql(tx, call, { ...SUCCEED, answer: 'held' }))
          const outcome = await mysqlBarrierIn(connection).run(back, (tx, original) =>
            actOnMysql(tx, back, { does: 'tell-original' }, original),
          )
          expect(outcome).toEqual({ decision: 'run', answer: '{"original":"held"}' })
          await connection.commit()
        })
        expect(await mysqlEffects(pool, call.gid)).toEqual(['action', 'compensate'])
      })

      for (const [kind, prepare] of [
        ['the handle', (tx: PoolConnection, sql: string) => tx.prepare(sql)],
        ['its promise()', (tx: PoolConnection, sql: string) => findRaw(tx).promise().prepare(sql)],
        [
          'the raw connection',
          (tx: PoolConnection, sql: string) =>
            new Promise<PrepareStatementInfo>((resolve, reject) => {
              findRaw(tx).prepare(sql, (error, statement) =>
                error === null ? resolve(statement) : reject(error),
              )
            }),
        ],
      ] as const) {
        it(`A statement that ${kind} has prepared cannot write when the effect is over`, async () => {
          const call = newCall()
          const kept: { readonly execute: (values: string[]) => unknown }[] = []
          await mysqlBarrier(pool).run(call, async (tx) => {
            const statement = await prepare(tx, 'INSERT INTO effect (gid, op) VALUES (?, ?)')
            await new Promise<void>((resolve, reject) => {
              const written = statement.execute([call.gid, 'action'], (error: Error | null) =>
                error === null ? resolve() : reject(error),
              ) as unknown
              if (written instanceof Promise) written.then(() => resolve(), reject)
            })
            kept.push(statement as never)
          })
          for (const statement of kept) {
            const late = async () => statement.execute([call.gid, 'late'])
            await expect(late()).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
          }
          expect([kept.length, await mysqlEffects(pool, call.gid)]).toEqual([1, ['action']])
        })
      }

      it('No session waits on the server when the time of its calls is over', async () => {
        const small = await openMysqlDatabase(url, { connectionLimit: 3 })
        await small.query("INSERT INTO effect (number, gid, op) VALUES (1, 'locked', 'x')")
        const holder = await small.getConnection()
        await holder.beginTransaction()
        await holder.query("UPDATE effect SET op = 'y' WHERE number = 1")
        const barrier = mysqlBarrier(small, { timeoutMs: 700 })
        const streams: Socket[] = []
        const calls = Array.from({ length: 5 }, newCall)
        const outcomes = await Promise.allSettled(
          calls.map((call) =>
            barrier.run(call, async (tx) => {
              streams.push(findStream(tx))
              await tx.query("UPDATE effect SET op = 'z' WHERE number = 1")
            }),
          ),
        )
        for (const outcome of outcomes)
          expect(outcome).toMatchObject({ reason: { code: 'BARRIER_TIMED_OUT' } })
        expect(streams.map(({ destroyed }) => destroyed)).toEqual([true, true])
        const database = await readDatabase(small)
        await expect.poll(() => listWaiting(pool, database), { timeout: 5_000 }).toEqual([])
        await holder.rollback()
        holder.release()
        // None of the calls has left a row behind.
        for (const call of calls) {
          expect((await barrier.run(call, (tx) => actOnMysql(tx, call, SUCCEED))).decision).toBe('run')
        }
        await dropMysqlDatabase(small)
      })

      it('No session waits on the server when one part of an effect fails while another waits', async () => {
        const small = await openMysqlDatabase(url, { connectionLimit: 2 })
        await small.query("INSERT INTO effect (number, gid, op) VALUES (1, 'locked', 'x')")
        const holder = await small.getConnection()
        await holder.beginTransaction()
        await holder.query("UPDATE effect SET op = 'y' WHERE number = 1")
        const running = mysqlBarrier(small, { timeoutMs: 700 }).run(newCall(), (tx) =>
          Promise.all([
            tx.query("UPDATE effect SET op = 'z' WHERE number = 1"),
            Promise.reject(new BranchFailure('said no')),
          ]),
        )
        await expect(running).rejects.toThrow('said no')
        const database = await readDatabase(small)
        await expect.poll(() => listWaiting(pool, database), { timeout: 5_000 }).toEqual([])
        await holder.rollback()
        holder.release()
        await dropMysqlDatabase(small)
      })

      it('A row that a caller committed after a failure is not replayed as a success', async () => {
        const call = newCall()
        await inTransaction(async (connection) => {
          const barrier = mysqlBarrierIn(connection)
          const failing = barrier.run(call, (tx) => actOnMysql(tx, call, { does: 'fail' }))
          await expect(failing).rejects.toThrow('said no')
          await connection.commit()
        })
        const again = mysqlBarrier(pool).run(call, (tx) => actOnMysql(tx, call, SUCCEED))
        await expect(again).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
      })

      it('A connection whose ROLLBACK fails is destroyed, because the next BEGIN on it would commit what is open', async () => {
        const call = newCall()
        const small = await openMysqlDatabase(url, { connectionLimit: 1 })
        const barrier = mysqlBarrier(small)
        const failing = barrier.run(call, async (tx) => {
          await actOnMysql(tx, call, SUCCEED)
          const query = tx.query.bind(tx)
          tx.query = ((statement: { readonly sql: string }) =>
            statement.sql === 'ROLLBACK'
              ? Promise.reject(new Error('no rollback'))
              : query(statement)) as never
          throw new Error('broken on purpose')
        })
        await expect(failing).rejects.toThrow('broken on purpose')
        await barrier.run(newCall(), () => undefined)
        expect([await countMysqlRows(small, call.gid), await mysqlEffects(small, call.gid)]).toEqual([0, []])
        await dropMysqlDatabase(small)
      })

      it("The barrier works inside a caller's transaction, whatever its snapshot has seen", async () => {
        const call = newCall()
        await inTransaction(async (connection) => {
          // The snapshot of REPEATABLE READ is taken here, before the row of the other call is there.
          await connection.query('SELECT count(*) FROM effect')
          const first = { ...SUCCEED, answer: { id: 1 } }
          await mysqlBarrier(pool).run(call, (tx) => actOnMysql(tx, call, first))
          const outcome = await mysqlBarrierIn(connection).run(call, (tx) => actOnMysql(tx, call, SUCCEED))
          expect(outcome).toEqual({ decision: 'duplicate', answer: '{"id":1}' })
        })
        expect(await mysqlEffects(pool, call.gid)).toEqual(['action'])
      })

      it("A caller's rollback takes row and effect away together", async () => {
        const call = newCall()
        await inTransaction(async (connection) => {
          await mysqlBarrierIn(connection).run(call, (tx) => actOnMysql(tx, call, SUCCEED))
        })
        expect([await countMysqlRows(pool, call.gid), await mysqlEffects(pool, call.gid)]).toEqual([0, []])
      })

      it("A deadlock in a caller's transaction is thrown as it is, and nothing is repeated", async () => {
        const call = newCall()
        let runs = 0
        const deadlock = Object.assign(new Error('Deadlock found'), { errno: DEADLOCK })
        await inTransaction(async (connection) => {
          const running = mysqlBarrierIn(connection).run(call, () => {
            runs++
            throw deadlock
          })
          await expect(running).rejects.toBe(deadlock)
        })
        expect(runs).toBe(1)
      })

      it('A connection without an open transaction is refused before anything is written', async () => {
        const call = newCall()
        const connection = await pool.getConnection()
        const running = mysqlBarrierIn(connection).run(call, (tx) => actOnMysql(tx, call, SUCCEED))
        await expect(running).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
        connection.release()
        expect(await countMysqlRows(pool, call.gid)).toBe(0)
      })

      it('Two repetitions of one call that wait for the disk keep no row from each other', async () => {
        // The first row of the table, beside which both have locked the gap that they then insert into.
        const call = { ...newCall(), gid: '!' }
        await mysqlBarrier(pool).run(call, () => 1)
        const statements = new Map<PoolConnection, string[]>()
        const gate = new EventEmitter()
        const areBothRead = once(gate, 'both read')
        let readers = 0
        const noting = beforeEachStatement(pool, async (sql, connection) => {
          const words = statements.get(connection) ?? []
          statements.set(connection, [...words, readWord(sql)])
          if (!words.includes('SELECT') || readWord(sql) !== 'INSERT') return
          if (++readers === 2) gate.emit('both read')
          await areBothRead
        })
        const repeat = () => mysqlBarrier(noting).run(call, () => 2)
        expect(await Promise.all([repeat(), repeat()])).toEqual(
          Array(2).fill({ decision: 'duplicate', answer: '1' }),
        )
        expect([...statements.values()]).toEqual(
          Array(2).fill(['START', 'INSERT', 'SELECT', 'START', 'INSERT', 'DELETE', 'COMMIT']),
        )
        expect(await countMysqlRows(pool, '!')).toBe(1)
        const [all] = await pool.query<RowDataPacket[]>("SELECT gid FROM counterstep_barrier WHERE gid < '!'")
        expect(all).toEqual([])
      })

      it('The callback API of mysql2 is refused when the barrier is made', () => {
        const callbacks = createCallbackPool({ uri: url })
        expect(() => mysqlBarrier(callbacks as never)).toThrow(/mysql2\/promise/)
        callbacks.end()
      })

      it('The barrier keeps its keys under NO_BACKSLASH_ESCAPES and ANSI_QUOTES', async () => {
        const connection = await pool.getConnection()
        await connection.query("SET sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'")
        await connection.beginTransaction()
        const call = { gid: `o'\\"${++gids}`, branchId: "'; --", op: 'action' } as const
        const answer = { text: 'back\\slash \' and "' }
        const barrier = mysqlBarrierIn(connection)
        const first = await barrier.run(call, () => answer)
        expect(await barrier.run(call, () => 0)).toEqual({ decision: 'duplicate', answer: first.answer })
        expect(first.answer).toBe(JSON.stringify(answer))
        await connection.rollback()
        connection.destroy()
      })

      it('Eight instances of a service that start at once can migrate the table of the barrier', async () => {
        for (let round = 0; round < 10; round++) {
          const table = `migrated_${round}`
          await Promise.all(Array.from({ length: 8 }, () => migrateBarrier(pool, { table })))
          expect(await checkBarrier(pool, { table })).toBeUndefined()
        }
      })

      it('A purge of the barrier deletes what is older than the retention, in chunks, at most `limit` rows', async () => {
        await migrateBarrier(pool, { table: 'purged' })
        const now = 1_800_000_000_000
        const ages = [0, 59, 61, 400].flatMap((days) => Array.from({ length: 600 }, () => days))
        const rows = ages.map((days, number) => [
          `p-${number}`,
          '01',
          'action',
          '01',
          'action',
          now - days * 86_400_000,
        ])
        await pool.query('INSERT INTO purged (gid, branch_id, op, barrier_id, reason, created_at) VALUES ?', [
          rows,
        ])
        const options = { table: 'purged', now: () => now }
        expect(await purgeBarrier(pool, { ...options, limit: 700 })).toBe(700)
        expect(await purgeBarrier(pool, options)).toBe(500)
        expect(await purgeBarrier(pool, options)).toBe(0)
        const [left] = await pool.query('SELECT count(*) AS number FROM purged')
        expect(left).toEqual([{ number: 1_200 }])
      })

      it('The check of the barrier looks at its table, the key, the engine and the business table, and leaves no row', async () => {
        await migrateBarrier(pool)
        expect(await checkBarrier(pool, { businessTable: 'effect' })).toBeUndefined()
        const database = await readDatabase(pool)
        const qualified = { table: `${database}.counterstep_barrier`, businessTable: `${database}.effect` }
        expect(await checkBarrier(pool, qualified)).toBeUndefined()
        await pool.query('CREATE TABLE crooked (gid VARCHAR(128) PRIMARY KEY, op VARCHAR(9) UNIQUE)')
        await pool.query('CREATE TABLE loose (gid VARCHAR(128) PRIMARY KEY) ENGINE = MyISAM')
        const misconfigured = async (table: string, businessTable?: string): Promise<string> => {
          const options = businessTable === undefined ? { table } : { table, businessTable }
          const error = await checkBarrier(pool, options).catch((thrown: unknown) => thrown)
          expect(error).toMatchObject({ code: 'BARRIER_MISCONFIGURED' })
          return String(error)
        }
        expect(await misconfigured('absent', 'loose')).toMatch(/run migrateBarrier.*; loose is in MyISAM/)
        expect(await misconfigured('crooked')).toMatch(/one unique key.*key columns/)
        expect(await countMysqlRows(pool, 'self-check')).toBe(0)
      })

      it('The check of the barrier finds a user who may not delete rows, and could not repeat an answer', async () => {
        const user = `sdk_${crypto.randomUUID().slice(0, 8)}`
        const database = await readDatabase(pool)
        await pool.query(`CREATE USER ${user}`)
        await pool.query(`GRANT SELECT, INSERT, UPDATE ON ${database}.* TO ${user}`)
        const address = new URL(`${url}/${database}`)
        address.username = user
        const bound = createPool({ uri: address.href })
        await expect(checkBarrier(bound)).rejects.toThrow(/DELETE command denied/)
        await pool.query(`GRANT DELETE ON ${database}.* TO ${user}`)
        expect(await checkBarrier(bound)).toBeUndefined()
        await bound.end()
        await pool.query(`DROP USER ${user}`)
      })

      it('The check of the barrier finds the isolation level that would show it uncommitted rows', async () => {
        const loose = await openMysqlDatabase(url, { connectionLimit: 1 })
        await loose.query('SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED')
        await expect(checkBarrier(loose)).rejects.toThrow(/READ-UNCOMMITTED/)
        await dropMysqlDatabase(loose)
      })
    })
  })
}

function keep(error: unknown): unknown {
  return error
}

function toPromise(send: (done: (error: unknown) => void) => unknown): Promise<unknown> {
  return new Promise<void>((resolve, reject) => {
    send((error) => (error === null ? resolve() : reject(error)))
  })
}

/** Sends a statement as code of the service does that has the connection otherwise, for example by an event of its pool. */
function sendUnguarded(tx: PoolConnection, sql: string): Promise<unknown> {
  return unwrapLease(tx).query(sql)
}

function findStream(tx: PoolConnection): Socket {
  return (findRaw(tx) as unknown as { readonly stream: Socket }).stream
}

/** Lists the statements of the busy sessions of a database. */
async function listWaiting(pool: Pool, database: string): Promise<unknown[]> {
  const [rows] = await pool.query<RowDataPacket[]>('SHOW PROCESSLIST')
  return rows
    .filter(({ db, Command }) => db === database && Command !== 'Sleep')
    .map(({ Command, State, Info }) => [Command, State, Info])
}

/** Returns the connection as Knex is given it. The types of mysql2 say that it is a promise connection too. */
function findRaw({ connection }: PoolConnection): CallbackConnection {
  return connection as unknown as CallbackConnection
}

async function readDatabase(pool: Pool): Promise<string> {
  const [rows] = await pool.query<RowDataPacket[]>('SELECT DATABASE() AS name')
  return String(rows[0]?.name)
}
