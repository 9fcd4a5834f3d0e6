import { describeOn } from '@counterstep/test-servers/vitest'
import { Client, Pool, type PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unwrapLease } from '../../src/barrier/lease.ts'
import {
  checkBarrier,
  migrateBarrier,
  postgresBarrier,
  postgresBarrierIn,
  purgeBarrier,
} from '../../src/barrier/postgres.ts'
import type { GroupCall } from '../../src/grouped/group-barrier.ts'
import { groupedBranch } from '../../src/grouped/grouped.ts'
import { postgresGroupBarrier } from '../../src/grouped/postgres.ts'
import { type BarrierCall, BranchFailure, BranchOngoing, withBarrier } from '../../src/index.ts'
import { barrierSuite } from '../barrier/barrier-suite.ts'
import { messageSuite } from '../barrier/message-suite.ts'
import {
  actOnPostgres,
  countPostgresRows,
  dropPostgresDatabase,
  openPostgresDatabase,
  openPostgresFixture,
  postgresEffects,
} from './postgres-fixture.ts'

const SUCCEED = { does: 'succeed' } as const
const SERIALIZABLE = { options: '-c default_transaction_isolation=serializable' }

describeOn('postgres', 'the PostgreSQL barrier', (url) => {
  barrierSuite({ name: 'postgres', open: () => openPostgresFixture(url), width: 64 })
  messageSuite({ name: 'postgres', open: () => openPostgresFixture(url), width: 64 })
  messageSuite({
    name: 'postgres, serializable',
    open: () => openPostgresFixture(url, SERIALIZABLE),
    pairs: 100,
    width: 8,
  })
  barrierSuite({
    name: 'postgres, serializable',
    open: () => openPostgresFixture(url, SERIALIZABLE),
    pairs: 100,
    width: 8,
  })

  describe('beside the truth table', () => {
    let pool: Pool
    let gids = 0
    const newCall = (): BarrierCall => ({ gid: `more-${++gids}`, branchId: '01', op: 'action' })
    beforeAll(async () => {
      pool = await openPostgresDatabase(url)
    })
    afterAll(() => dropPostgresDatabase(url, pool))

    const inTransaction = async (
      begin: string,
      work: (client: PoolClient) => Promise<void>,
    ): Promise<void> => {
      const client = await pool.connect()
      try {
        await client.query(begin)
        await work(client)
      } finally {
        await client.query('ROLLBACK')
        client.release()
      }
    }

    it('A client of pg.native, which hears no notices, is refused', async () => {
      // This is all that the barrier reads of it. The addon is compiled where it is installed.
      class NativeClient extends Client {
        readonly native = {}
      }
      const native = new Pool({ ...pool.options, Client: NativeClient })
      const refusal = 'pg.native hears no notices'
      await expect(checkBarrier(native)).rejects.toThrow(refusal)
      await expect(postgresBarrier(native).run(newCall(), async () => 'done')).rejects.toThrow(refusal)
      await native.end()
    })

    it('A call runs again as a whole after a real deadlock, and then commits once', async () => {
      const call = newCall()
      await pool.query("INSERT INTO effect (number, gid, op) VALUES (100001, 'a', 'x'), (100002, 'b', 'x')")
      let runs = 0
      await inTransaction('BEGIN', async (other) => {
        // The side that waits first looks for the deadlock first, and that has to be the barrier's side.
        await other.query("SET LOCAL deadlock_timeout = '10s'")
        await other.query("UPDATE effect SET op = 'y' WHERE number = 100001")
        let crossing: Promise<unknown> | undefined
        const outcome = await postgresBarrier(pool).run(call, async (tx) => {
          await actOnPostgres(tx, call, SUCCEED)
          if (++runs > 1) return
          await tx.query("UPDATE effect SET op = 'z' WHERE number = 100002")
          crossing = other.query("UPDATE effect SET op = 'y' WHERE number = 100002")
          await tx.query("UPDATE effect SET op = 'z' WHERE number = 100001")
        })
        await crossing
        expect(outcome.decision).toBe('run')
      })
      expect([runs, await postgresEffects(pool, call.gid)]).toEqual([2, ['action']])
    })

    it('Nothing is committed of an effect that swallows a database error', async () => {
      const call = newCall()
      const running = postgresBarrier(pool).run(call, async (tx) => {
        await actOnPostgres(tx, call, SUCCEED)
        await tx.query('SELECT 1 / 0').catch((error: unknown) => error)
      })
      await expect(running).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
      expect([await countPostgresRows(pool, call.gid), await postgresEffects(pool, call.gid)]).toEqual([
        0,
        [],
      ])
    })

    it('A constraint that is checked at COMMIT is not taken for a lost answer, and leaves no row', async () => {
      await pool.query('CREATE TABLE deferred (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)')
      const call = newCall()
      const running = postgresBarrier(pool).run(call, async (tx) => {
        await tx.query('INSERT INTO deferred VALUES (1), (1)')
      })
      await expect(running).rejects.toMatchObject({ code: '23505' })
      expect(await countPostgresRows(pool, call.gid)).toBe(0)
    })

    it('A client is given back to its pool clean or not at all', async () => {
      const small = await openPostgresDatabase(url, { max: 1 })
      const barrier = postgresBarrier(small)
      const call = newCall()
      await expect(barrier.run(call, (tx) => actOnPostgres(tx, call, { does: 'fail' }))).rejects.toThrow(
        'said no',
      )
      const broken = barrier.run(call, async (tx) => {
        await tx.query('SELECT pg_terminate_backend(pg_backend_pid())')
      })
      await expect(broken).rejects.toMatchObject({ code: '57P01' })
      expect((await barrier.run(call, (tx) => actOnPostgres(tx, call, SUCCEED))).decision).toBe('run')
      await dropPostgresDatabase(url, small)
    })

    it('The barrier outlives a connection that the server ends while the effect waits for something else', async () => {
      const call = newCall()
      const running = postgresBarrier(pool).run(call, async (tx) => {
        await actOnPostgres(tx, call, SUCCEED)
        const { rows } = await tx.query('SELECT pg_backend_pid() AS pid')
        const ended = new Promise((resolve) => tx.once('end', resolve))
        await pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid])
        await ended
      })
      await expect(running).rejects.toThrow()
      expect((await postgresBarrier(pool).run(call, (tx) => actOnPostgres(tx, call, SUCCEED))).decision).toBe(
        'run',
      )
      expect(await postgresEffects(pool, call.gid)).toEqual(['action'])
    })

    it('A client whose ROLLBACK fails is closed, because what is open on it would go on', async () => {
      const call = newCall()
      const small = await openPostgresDatabase(url, { max: 1 })
      const barrier = postgresBarrier(small)
      const failing = barrier.run(call, async (tx) => {
        await actOnPostgres(tx, call, SUCCEED)
        const query = tx.query.bind(tx) as (statement: unknown) => unknown
        tx.query = ((statement: { readonly text?: string }) =>
          statement.text === 'ROLLBACK'
            ? Promise.reject(new Error('no rollback'))
            : query(statement)) as never
        throw new Error('broken on purpose')
      })
      await expect(failing).rejects.toThrow('broken on purpose')
      await barrier.run(newCall(), () => undefined)
      expect([await countPostgresRows(small, call.gid), await postgresEffects(small, call.gid)]).toEqual([
        0,
        [],
      ])
      await dropPostgresDatabase(url, small)
    })

    it("The barrier works inside a caller's transaction, whose rollback takes row and effect away", async () => {
      const call = newCall()
      await inTransaction('BEGIN', async (client) => {
        const barrier = postgresBarrierIn(client)
        await barrier.run(call, (tx) => actOnPostgres(tx, call, SUCCEED))
        expect((await barrier.run(call, () => 0)).decision).toBe('duplicate')
      })
      expect([await countPostgresRows(pool, call.gid), await postgresEffects(pool, call.gid)]).toEqual([
        0,
        [],
      ])
    })

    it("A call fails, and does not run twice, when a caller's snapshot is older than the row", async () => {
      const call = newCall()
      await inTransaction('BEGIN ISOLATION LEVEL REPEATABLE READ', async (client) => {
        await client.query('SELECT count(*) FROM effect')
        await postgresBarrier(pool).run(call, (tx) => actOnPostgres(tx, call, SUCCEED))
        const running = postgresBarrierIn(client).run(call, (tx) => actOnPostgres(tx, call, SUCCEED))
        await expect(running).rejects.toMatchObject({ code: '40001' })
      })
      expect(await postgresEffects(pool, call.gid)).toEqual(['action'])
    })

    it('No part of a parallel effect writes after another part has failed', async () => {
      const small = await openPostgresDatabase(url, { max: 1 })
      const barrier = postgresBarrier(small)
      const [call, next] = [newCall(), newCall()]
      let resume = (): void => undefined
      const resumed = new Promise<void>((resolve) => {
        resume = resolve
      })
      let late: Promise<unknown> | undefined
      const debit = async (): Promise<never> => {
        throw new BranchFailure('said no')
      }
      const credit = async (tx: PoolClient): Promise<void> => {
        await tx.query('SELECT 1')
        await resumed
        await actOnPostgres(tx, call, SUCCEED)
      }
      const running = barrier.run(call, (tx) => {
        const crediting = credit(tx)
        late = crediting.catch((error: unknown) => error)
        return Promise.all([crediting, debit()])
      })
      await expect(running).rejects.toThrow('said no')
      await barrier.run(next, async (tx) => {
        await actOnPostgres(tx, next, SUCCEED)
        resume()
        expect(await late).toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
      })
      expect([await countPostgresRows(small, call.gid), await postgresEffects(small, call.gid)]).toEqual([
        0,
        [],
      ])
      expect(await postgresEffects(small, next.gid)).toEqual(['action'])
      await dropPostgresDatabase(url, small)
    })

    it('Nothing of an effect is committed of which a part sends a statement behind its end', async () => {
      const [call, ...grouped] = [newCall(), newCall(), newCall()]
      const late: Promise<unknown>[] = []
      const effect = async (tx: PoolClient, calls: readonly BarrierCall[]) => {
        for (const each of calls) await actOnPostgres(tx, each, SUCCEED)
        const part = tx.query('SELECT 1').then(() => tx.query('SELECT 1'))
        late.push(part.catch((error: unknown) => error))
        return 'paid'
      }
      const forgotten = {
        code: 'BARRIER_TRANSACTION_LOST',
        message: expect.stringContaining('an await was forgotten'),
      }
      const running = postgresBarrier(pool).run(call, (tx) => effect(tx, [call]))
      await expect(running).rejects.toMatchObject(forgotten)
      const { groupRunner } = postgresGroupBarrier(pool)
      const passes = grouped.map((each) => ({ admitted: groupRunner.admit(each), entry: () => 0 }))
      const group = groupRunner.run(passes, async (tx, { length }) =>
        Array(length).fill(await effect(tx, grouped)),
      )
      await expect(group).rejects.toMatchObject(forgotten)
      expect(await Promise.all(late)).toMatchObject(Array(2).fill({ code: 'BARRIER_TRANSACTION_LOST' }))
      for (const { gid } of [call, ...grouped])
        expect([await countPostgresRows(pool, gid), await postgresEffects(pool, gid)]).toEqual([0, []])
    })

    it.each([
      'BEGIN',
      'START TRANSACTION',
      '-- done\ncommit',
      'END',
      'ABORT',
      'ROLLBACK',
      "PREPARE TRANSACTION 'one'",
      "SELECT ';'; ROLLBACK",
    ])('An effect that would end its transaction is refused that: %s', async (text) => {
      const call = newCall()
      const barrier = postgresBarrier(pool)
      const refused = { code: 'BARRIER_STATEMENT_REFUSED' }
      for (let attempt = 0; attempt < 2; attempt++) {
        const running = barrier.run(call, async (tx) => {
          await tx.query('SELECT 1 / 0').catch(() => tx.query(text))
          await actOnPostgres(tx, call, SUCCEED)
        })
        await expect(running).rejects.toMatchObject(refused)
      }
      expect([await countPostgresRows(pool, call.gid), await postgresEffects(pool, call.gid)]).toEqual([
        0,
        [],
      ])
      // An effect that goes on without it does so in its transaction, and may use savepoints.
      const outcome = await barrier.run(call, async (tx) => {
        await expect(tx.query({ text })).rejects.toMatchObject(refused)
        expect(() => tx.query(text, () => undefined)).toThrow('is the barrier')
        await tx.query('SAVEPOINT sp')
        await tx.query('SELECT 1 / 0').catch(() => tx.query('ROLLBACK TRANSACTION TO SAVEPOINT sp'))
        return actOnPostgres(tx, call, SUCCEED)
      })
      expect(outcome.decision).toBe('run')
      expect(await postgresEffects(pool, call.gid)).toEqual(['action'])
    })

    it('Nothing more of an effect is sent once the server has said that its transaction has ended', async () => {
      const call = newCall()
      for (let attempt = 0; attempt < 2; attempt++) {
        const running = postgresBarrier(pool).run(call, async (tx) => {
          await sendUnguarded(tx, 'ROLLBACK')
          await actOnPostgres(tx, call, SUCCEED)
        })
        await expect(running).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
      }
      expect(await postgresEffects(pool, call.gid)).toEqual([])
    })

    it('A callback on the handle is refused when the effect is over', async () => {
      let kept: PoolClient | undefined
      await postgresBarrier(pool).run(newCall(), (tx) => {
        kept = tx
      })
      expect(() => kept?.query('SELECT 1', () => undefined)).toThrow(/the transaction is over/)
    })

    it('A row that was committed without its effect is not replayed as a success', async () => {
      const [own, callers] = [newCall(), newCall()]
      const barrier = postgresBarrier(pool)
      const failing = barrier.run(own, async (tx) => {
        await sendUnguarded(tx, 'COMMIT')
        throw new BranchFailure('said no')
      })
      await expect(failing).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
      await inTransaction('BEGIN', async (client) => {
        const refused = postgresBarrierIn(client).run(callers, () => {
          throw new BranchFailure('said no')
        })
        await expect(refused).rejects.toThrow('said no')
        await client.query('COMMIT')
      })
      for (const call of [own, callers]) {
        const again = barrier.run(call, (tx) => actOnPostgres(tx, call, SUCCEED))
        await expect(again).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
        expect(await postgresEffects(pool, call.gid)).toEqual([])
      }
    })

    for (const [answer, thrown] of [
      ['failure', new BranchFailure('said no')],
      ['not yet', new BranchOngoing()],
      ['success', undefined],
    ] as const) {
      it(`An effect that a handler committed itself is not told as rolled back, nor as safe, after a ${answer}`, async () => {
        const call = newCall()
        const running = postgresBarrier(pool).run(call, async (tx) => {
          await actOnPostgres(tx, call, SUCCEED)
          await sendUnguarded(tx, 'COMMIT')
          if (thrown !== undefined) throw thrown
        })
        await expect(running).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
        expect(await postgresEffects(pool, call.gid)).toEqual(['action'])
      })
    }

    for (const [origin, undo] of [
      ['action', 'compensate'],
      ['try', 'cancel'],
    ] as const) {
      it(`The ${undo} of a ${origin} that was committed without its effect does not run`, async () => {
        const call = { ...newCall(), op: origin }
        const back = { ...call, op: undo }
        const barrier = postgresBarrier(pool)
        const failing = barrier.run(call, async (tx) => {
          await sendUnguarded(tx, 'COMMIT')
          throw new Error('broken on purpose')
        })
        await expect(failing).rejects.toThrow('broken on purpose')
        for (let round = 0; round < 2; round++) {
          const undoing = barrier.run(back, (tx) => actOnPostgres(tx, back, SUCCEED))
          await expect(undoing).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
        }
        const other = newCall()
        const grouped = groupedBranch(postgresGroupBarrier(pool), {
          key: () => 'one',
          apply: async (tx, calls: readonly GroupCall<BarrierCall>[]) => {
            for (const { entry } of calls) await actOnPostgres(tx, entry, SUCCEED)
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
        expect(await postgresEffects(pool, other.gid)).toEqual(['action'])
        expect([await countPostgresRows(pool, call.gid), await postgresEffects(pool, call.gid)]).toEqual([
          1,
          [],
        ])
      })
    }

    for (const [end, effect, decision] of [
      ['without its effect', 'fail', undefined],
      ['with its effect', 'succeed', 'run'],
    ] as const) {
      it(`An action that was committed ${end} while its undo waited is looked at again`, async () => {
        const call = newCall()
        const back = { ...call, op: 'compensate' } as const
        await inTransaction('BEGIN', async (client) => {
          const first = postgresBarrierIn(client).run(call, (tx) => actOnPostgres(tx, call, { does: effect }))
          await first.catch((error: unknown) => expect(error).toMatchObject({ branchResult: 'failure' }))
          const undoing = postgresBarrier(pool)
            .run(back, (tx) => actOnPostgres(tx, back, SUCCEED))
            .then(
              (outcome) => outcome.decision,
              (error: unknown) => error,
            )
          await expect.poll(() => waitingOn(pool), { timeout: 5_000 }).toHaveLength(1)
          await client.query('COMMIT')
          if (decision === undefined) {
            expect(await undoing).toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
          } else expect(await undoing).toBe(decision)
        })
      })
    }

    it('No session waits on the server when the time of its calls is over', async () => {
      const small = await openPostgresDatabase(url, { max: 3 })
      await small.query("INSERT INTO effect (number, gid, op) VALUES (100001, 'locked', 'x')")
      const holder = await small.connect()
      await holder.query("BEGIN; UPDATE effect SET op = 'y' WHERE number = 100001")
      const barrier = postgresBarrier(small, { timeoutMs: 500 })
      const calls = Array.from({ length: 5 }, newCall)
      const outcomes = await Promise.allSettled(
        calls.map((call) =>
          barrier.run(call, (tx) => tx.query("UPDATE effect SET op = 'z' WHERE number = 100001")),
        ),
      )
      for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'BARRIER_TIMED_OUT' } })
      await expect.poll(() => waitingOn(holder), { timeout: 5_000 }).toEqual([])
      await holder.query('ROLLBACK')
      holder.release()
      for (const call of calls) {
        expect((await barrier.run(call, (tx) => actOnPostgres(tx, call, SUCCEED))).decision).toBe('run')
      }
      await dropPostgresDatabase(url, small)
    })

    for (const name of ['statement_timeout', 'idle_in_transaction_session_timeout'] as const) {
      it(`S40: The barrier sets ${name} for its own transaction alone, and the stricter bound stays`, async () => {
        for (const [sessionMs, expected] of [
          [0, [2_000, 2_600]],
          [1_234, [1_234, 1_234]],
          [60_000, [2_000, 2_600]],
        ] as const) {
          const small = await openPostgresDatabase(url, { max: 1, [name]: sessionMs })
          const timeoutMs = async (client: Pool | PoolClient): Promise<number> => {
            const { rows } = await client.query('SELECT setting FROM pg_settings WHERE name = $1', [name])
            return Number(rows[0].setting)
          }
          const barrier = postgresBarrier(small, { timeoutMs: 2_000 })
          for (let round = 0; round < 2; round++) {
            let withinCallMs = 0
            await barrier.run(newCall(), async (tx) => {
              withinCallMs = await timeoutMs(tx)
            })
            expect(withinCallMs).toBeGreaterThanOrEqual(expected[0])
            expect(withinCallMs).toBeLessThanOrEqual(expected[1])
            expect(await timeoutMs(small)).toBe(sessionMs)
          }
          await dropPostgresDatabase(url, small)
        }
      })
    }

    it('A COMMIT whose outcome the server does not know is reported as unknown', async () => {
      const call = newCall()
      const unknowing = {
        totalCount: 0,
        connect: async (): Promise<PoolClient> => {
          const client = await pool.connect()
          const query = client.query.bind(client) as (...parameters: unknown[]) => Promise<unknown>
          client.query = (async (...parameters: unknown[]) => {
            const answer = await query(...parameters)
            if (JSON.stringify(parameters[0]) !== '{"text":"COMMIT"}') return answer
            throw Object.assign(new Error('statement completion unknown'), { code: '40003' })
          }) as typeof client.query
          return client
        },
      }
      const running = postgresBarrier(unknowing).run(call, (tx) => actOnPostgres(tx, call, SUCCEED))
      await expect(running).rejects.toMatchObject({ code: 'BARRIER_COMMIT_UNKNOWN' })
      const again = await postgresBarrier(pool).run(call, (tx) => actOnPostgres(tx, call, SUCCEED))
      expect(again.decision).toBe('duplicate')
    })

    it('A client without an open transaction is refused before anything is written', async () => {
      const call = newCall()
      const client = await pool.connect()
      const running = postgresBarrierIn(client).run(call, (tx) => actOnPostgres(tx, call, SUCCEED))
      await expect(running).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
      client.release()
      expect(await countPostgresRows(pool, call.gid)).toBe(0)
    })

    it('A client is refused where the barrier needs a pool', () => {
      expect(() => postgresBarrier(new Client() as never)).toThrow(/needs a Pool/)
    })

    it('Eight instances of a service that start at once can migrate the table of the barrier', async () => {
      for (let round = 0; round < 10; round++) {
        const table = `migrated_${round}`
        await Promise.all(Array.from({ length: 8 }, () => migrateBarrier(pool, { table })))
        expect(await checkBarrier(pool, { table })).toBeUndefined()
      }
    })

    it('A purge of the barrier deletes what is older than the retention', async () => {
      await migrateBarrier(pool, { table: 'purged' })
      const now = 1_800_000_000_000
      await pool.query(
        `INSERT INTO purged (gid, branch_id, op, barrier_id, reason, created_at)
         SELECT days || '-' || number, '01', 'action', '01', 'action', $1::bigint - days * 86400000
         FROM generate_series(1, 600) number, unnest(ARRAY[0, 59, 61, 400]::bigint[]) days`,
        [now],
      )
      const options = { table: 'purged', now: () => now }
      expect(await purgeBarrier(pool, { ...options, limit: 700 })).toBe(700)
      expect(await purgeBarrier(pool, options)).toBe(500)
      expect(await purgeBarrier(pool, options)).toBe(0)
    })

    it('The check of the barrier looks at its table, the key, the collation and the business table, and leaves no row', async () => {
      expect(await checkBarrier(pool, { businessTable: 'effect' })).toBeUndefined()
      expect(await checkBarrier(pool, { table: 'public.counterstep_barrier' })).toBeUndefined()
      await pool.query(`CREATE TABLE crooked (gid text PRIMARY KEY, op text UNIQUE);
        CREATE UNLOGGED TABLE fleeting (id int);
        CREATE TABLE loose (gid text COLLATE "en-x-icu", branch_id text, op text, barrier_id text,
          PRIMARY KEY (gid, branch_id, op, barrier_id))`)
      const misconfigured = async (table: string, businessTable: string): Promise<string> => {
        const error = await checkBarrier(pool, { table, businessTable }).catch((thrown: unknown) => thrown)
        expect(error).toMatchObject({ code: 'BARRIER_MISCONFIGURED' })
        return String(error)
      }
      expect(await misconfigured('absent', 'fleeting')).toMatch(/run migrateBarrier.*; fleeting is unlogged/)
      expect(await misconfigured('crooked', 'effect')).toMatch(/one unique key/)
      expect(await misconfigured('loose', 'effect')).toMatch(/collation "C"/)
      await pool.query(`CREATE TABLE parted (id int) PARTITION BY RANGE (id);
        CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (id);
        CREATE TABLE parted_lowest PARTITION OF parted_low FOR VALUES FROM (0) TO (5);
        CREATE VIEW shown AS SELECT * FROM effect`)
      expect(await checkBarrier(pool, { businessTable: 'parted' })).toBeUndefined()
      await pool.query('CREATE UNLOGGED TABLE parted_mid PARTITION OF parted_low FOR VALUES FROM (5) TO (10)')
      expect(await misconfigured('counterstep_barrier', 'parted')).toMatch(/parted_mid of parted is unlogged/)
      await pool.query(`DROP TABLE parted_mid; CREATE EXTENSION postgres_fdw;
        CREATE SERVER elsewhere FOREIGN DATA WRAPPER postgres_fdw;
        CREATE FOREIGN TABLE parted_far PARTITION OF parted FOR VALUES FROM (10) TO (20) SERVER elsewhere`)
      expect(await misconfigured('counterstep_barrier', 'parted')).toMatch(/parted_far of parted is foreign/)
      expect(await misconfigured('counterstep_barrier', 'shown')).toMatch(/shown is a view/)
      const options = '-c synchronous_commit=off -c client_min_messages=error'
      const late = await openPostgresDatabase(url, { options })
      const fault = await checkBarrier(late).catch((thrown: unknown) => String(thrown))
      await dropPostgresDatabase(url, late)
      expect(fault).toMatch(/synchronous_commit is off.*; client_min_messages is error/)
      const { rows } = await pool.query("SELECT 1 FROM counterstep_barrier WHERE gid LIKE 'self-check%'")
      expect(rows).toEqual([])
    })
  })
})

/** Lists the statements with which sessions of this database wait for a lock. */
async function waitingOn(client: Pool | PoolClient): Promise<unknown[]> {
  const { rows } = await client.query(
    "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  )
  return rows.map(({ query }) => query)
}

/** Sends a statement as code of the service does that has the client otherwise, for example by an event of its pool. */
function sendUnguarded(tx: PoolClient, text: string): Promise<unknown> {
  return unwrapLease(tx).query(text)
}
