import { HangingLog, type SqlServer, startWithHangingLog } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import type { Pool, PoolConnection, RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkBarrier, mysqlBarrier, mysqlBarrierIn } from '../../src/barrier/mysql.ts'
import type { GroupApply } from '../../src/grouped/grouped.ts'
import { conditionalAdd, mysqlGroupBarrier } from '../../src/grouped/mysql.ts'
import type { BarrierCall } from '../../src/index.ts'
import { openMysqlDatabase } from './mysql-fixture.ts'

const TRIES = 20

interface Answered {
  readonly decision: string
  readonly answer?: string
}
type Way = (calls: readonly BarrierCall[]) => Promise<readonly Answered[]>

/** Each case is what has been written, and the call that is then answered from these rows alone. */
const ANSWERS: Readonly<Record<string, (branch: Branch) => readonly [BarrierCall[], BarrierCall, Answered]>> =
  {
    'a duplicate': (branch) => {
      const call: BarrierCall = { ...branch, op: 'action' }
      return [[call], call, { decision: 'duplicate', answer: '1' }]
    },
    'a null compensation that stands': (branch) => {
      const call: BarrierCall = { ...branch, op: 'compensate' }
      return [[call], call, { decision: 'duplicate' }]
    },
    'an action that was undone before it came': (branch) => [
      [{ ...branch, op: 'compensate' }],
      { ...branch, op: 'action' },
      { decision: 'already-compensated' },
    ],
  }
type Branch = Pick<BarrierCall, 'gid' | 'branchId'>

for (const kind of ['mariadb', 'mysql'] as const) {
  describeOwn(kind, `barrier rows on ${kind} that are seen before they are on the disk`, () => {
    let server: SqlServer
    let pool: Pool
    let log: HangingLog
    let ways: Readonly<Record<string, Way>>
    beforeAll(async () => {
      server = await startWithHangingLog(kind)
      pool = await openMysqlDatabase(server.url)
      log = new HangingLog(async (sql) => {
        const [rows] = await pool.query<RowDataPacket[]>(sql)
        return Object.values(rows[0] ?? {})
      })
      await pool.query('CREATE TABLE account (id VARCHAR(40) PRIMARY KEY, cents BIGINT NOT NULL)')
      await pool.query("INSERT INTO account VALUES ('shop', 0)")
      const add = conditionalAdd({ table: 'account', valueColumn: 'cents' })
      ways = {
        'a call alone': ([call]) => answerAlone(call),
        'a transaction of the user': ([call]) => answerInTransaction(call),
        'a group': (calls) => answerInGroup(calls, async (_, { length }) => Array<number>(length).fill(1)),
        'a planned group': (calls) => answerInGroup(calls, add),
      }
      // A first write does more than later ones, which would flush the log.
      await answerAlone({ gid: 'warm', branchId: '01', op: 'action' })
    }, 120_000)
    afterAll(async () => {
      await pool.end()
      await server.stop()
    })

    const succeed = () => 1
    async function answerAlone(call?: BarrierCall): Promise<readonly Answered[]> {
      return call === undefined ? [] : [await mysqlBarrier(pool).run(call, succeed)]
    }
    async function answerInTransaction(call?: BarrierCall): Promise<readonly Answered[]> {
      const connection = await pool.getConnection()
      await connection.beginTransaction()
      const outcome = call && (await mysqlBarrierIn(connection).run(call, succeed))
      await connection.commit()
      connection.release()
      return outcome === undefined ? [] : [outcome]
    }
    async function answerInGroup(
      calls: readonly BarrierCall[],
      apply: GroupApply<PoolConnection, never>,
    ): Promise<readonly Answered[]> {
      const { groupRunner } = mysqlGroupBarrier(pool)
      const passes = calls.map((call) => ({
        admitted: groupRunner.admit(call),
        entry: () => ({ id: 'shop', delta: 1 }),
      }))
      const verdicts = await groupRunner.run(passes, apply as GroupApply<PoolConnection, unknown>)
      return verdicts.map((verdict) => ('outcome' in verdict ? verdict.outcome : { decision: 'failed' }))
    }

    /** Expects the log to be flushed past what `write` has written when `ask` is answered. */
    async function expectFlushed(
      write: (gid: string) => Promise<unknown>,
      ask: (gid: string) => Promise<void>,
    ): Promise<void> {
      for (let tries = 1; ; tries++) {
        const gid = crypto.randomUUID()
        await log.leaveUnflushed(() => write(gid))
        const before = await log.readEnds()
        // A page that happens to be written flushes the log too. The answer would then prove nothing.
        if (before.flushed >= before.written) {
          expect(tries).toBeLessThan(TRIES)
          continue
        }
        await ask(gid)
        expect((await log.readEnds()).flushed).toBeGreaterThanOrEqual(before.written)
        return
      }
    }

    for (const way of ['a call alone', 'a transaction of the user', 'a group', 'a planned group']) {
      for (const [name, callsOf] of Object.entries(ANSWERS)) {
        it(`Rows are on the disk before ${way} is answered: ${name}`, async () => {
          const places = way.endsWith('group') ? ['01', '02'] : ['01']
          await expectFlushed(
            async (gid) => {
              for (const branchId of places)
                for (const call of callsOf({ gid, branchId })[0]) await answerAlone(call)
            },
            async (gid) => {
              const cases = places.map((branchId) => callsOf({ gid, branchId }))
              const answers = await ways[way]?.(cases.map(([, call]) => call))
              expect(answers).toEqual(cases.map(([, , expected]) => expected))
            },
          )
        })
      }
    }

    it('The check of the barrier finds that a COMMIT does not wait for the disk', async () => {
      await log.leaveUnflushed(() =>
        expect(checkBarrier(pool)).rejects.toThrow(/innodb_flush_log_at_trx_commit is 0/),
      )
      expect(await checkBarrier(pool, { businessTable: 'account' })).toBeUndefined()
    })

    it('Rows are on the disk before a query-back says that a message was committed', async () => {
      const barrier = mysqlBarrier(pool)
      await expectFlushed(
        (gid) => barrier.run({ gid, branchId: '00', op: 'msg' }, succeed),
        async (gid) => expect(await barrier.queryPrepared(gid)).toBe('committed'),
      )
    })

    it('Rows are on the disk before a second query-back says that a message was not committed', async () => {
      const barrier = mysqlBarrier(pool)
      await expectFlushed(
        (gid) => barrier.queryPrepared(gid),
        async (gid) => expect(await barrier.queryPrepared(gid)).toBe('rolled-back'),
      )
    })
  })
}
