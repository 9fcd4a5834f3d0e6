import { describeOn } from '@counterstep/test-servers/vitest'
import { escapeLiteral, type Pool, type PoolClient, type PoolConfig } from 'pg'
import { expect, it } from 'vitest'
import { unwrapLease } from '../../src/barrier/lease.ts'
import { purgeBarrier } from '../../src/barrier/postgres.ts'
import { groupedBranch } from '../../src/grouped/grouped.ts'
import { conditionalAdd, postgresGroupBarrier } from '../../src/grouped/postgres.ts'
import { BranchFailure } from '../../src/index.ts'
import { barrierSuite } from '../barrier/barrier-suite.ts'
import { purging, suiteClock } from '../barrier/suite-clock.ts'
import { conditionalAddSuite } from '../grouped/conditional-add-suite.ts'
import { groupSuite } from '../grouped/group-suite.ts'
import { groupedFixture, MANNERS, type Manner, PAIRS, type WriteEffects } from '../grouped/grouped-fixture.ts'
import {
  countPostgresRows,
  dropPostgresDatabase,
  losingCommit,
  openPostgresDatabase,
  postgresEffects,
  postgresEffectsOfEach,
} from './postgres-fixture.ts'

const write: WriteEffects<PoolClient> = async (tx, calls) => {
  await tx.query('INSERT INTO effect (gid, op) SELECT * FROM unnest($1::text[], $2::text[])', [
    calls.map(({ call }) => call.gid),
    calls.map(({ call }) => call.op),
  ])
}

async function openGroupedFixture(url: string, manner: Manner, queues = 1, options: PoolConfig = {}) {
  const pool = await openPostgresDatabase(url, options)
  return groupedFixture(
    {
      run: () => Promise.reject(new Error('the fixture of the plain barrier is not used')),
      runLosingCommit: () => Promise.reject(new Error('nor is this')),
      effects: (gid) => postgresEffects(pool, gid),
      effectsOfEach: (gids) => postgresEffectsOfEach(pool, gids),
      rows: (gid) => countPostgresRows(pool, gid),
      rollsBack: true,
      purge: async (before) => {
        await purgeBarrier(pool, purging(before))
      },
      close: () => dropPostgresDatabase(url, pool),
    },
    (when) => postgresGroupBarrier(when === undefined ? pool : losingCommit(pool, when), suiteClock),
    write,
    manner,
    queues,
  )
}

const readWord = (text: string): string => text.split(/[\s;]/)[0] ?? ''

/** Makes a pool whose clients' statements go through `through`. */
function watched(pool: Pool, through: (text: string, run: () => Promise<unknown>) => Promise<unknown>) {
  const known = new Map<PoolClient, PoolClient>()
  return {
    totalCount: 0,
    connect: async (): Promise<PoolClient> => {
      const client = await pool.connect()
      const proxy =
        known.get(client) ??
        new Proxy(client, {
          get: (target, key) => {
            const value: unknown = Reflect.get(target, key)
            if (typeof value !== 'function') return value
            if (key !== 'query') return value.bind(target)
            return (statement: string | { text: string }, ...values: unknown[]) =>
              through(typeof statement === 'string' ? statement : statement.text, () =>
                value.call(target, statement, ...values),
              )
          },
        })
      known.set(client, proxy)
      return proxy
    },
  }
}

const SERIALIZABLE = { options: '-c default_transaction_isolation=serializable' }

describeOn('postgres', 'grouped branches', (url) => {
  for (const manner of MANNERS) {
    barrierSuite({
      name: `postgres, grouped, whose apply ${manner}`,
      open: () => openGroupedFixture(url, manner),
      pairs: PAIRS[manner],
      width: 64,
    })
  }
  barrierSuite({
    name: 'postgres, grouped in eight queues',
    open: () => openGroupedFixture(url, 'takes out', 8),
    width: 64,
  })
  barrierSuite({
    name: 'postgres, serializable, grouped',
    open: () => openGroupedFixture(url, 'takes out', 2, SERIALIZABLE),
    pairs: 100,
    width: 8,
  })
  groupSuite('postgres', async () => {
    const pool = await openPostgresDatabase(url)
    await pool.query(`CREATE TABLE parent (id int PRIMARY KEY);
      CREATE TABLE child (parent int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)`)
    return {
      barrier: postgresGroupBarrier(pool),
      impatient: (timeoutMs: number) => postgresGroupBarrier(pool, { timeoutMs }),
      deferred: {
        write: async (tx: PoolClient, calls) => {
          for (const _ of calls) await tx.query('INSERT INTO child VALUES (7)')
        },
        isViolation: (error) => error instanceof Error && 'code' in error && error.code === '23503',
      },
      write,
      effects: (gid: string) => postgresEffects(pool, gid),
      rows: (gid: string) => countPostgresRows(pool, gid),
      rollBack: async (tx: PoolClient) => {
        await unwrapLease(tx).query('ROLLBACK')
      },
      deadlock: () => Object.assign(new Error('deadlock detected'), { code: '40P01' }),
      losingCommit: (when: 'before' | 'after') => postgresGroupBarrier(losingCommit(pool, when)),
      isConcurrent: true,
      close: () => dropPostgresDatabase(url, pool),
    }
  })
  it('The outcome of a group is unknown when the server does not know what became of its COMMIT', async () => {
    const pool = await openPostgresDatabase(url)
    const unknowing = watched(pool, async (text, run) => {
      const answer = await run()
      if (text === 'COMMIT') throw Object.assign(new Error('completion unknown'), { code: '40003' })
      return answer
    })
    const branch = groupedBranch(postgresGroupBarrier(unknowing), {
      key: () => 'one',
      apply: async (tx, calls) => {
        await write(tx, calls)
        return calls.map(() => 'done')
      },
    })
    const calls = ['a', 'b', 'c'].map((gid) => ({ gid, branchId: '01', op: 'action' }) as const)
    const settled = await Promise.allSettled(calls.map((call) => branch.run(call, () => 0)))
    for (const each of settled) expect(each).toMatchObject({ reason: { code: 'BARRIER_COMMIT_UNKNOWN' } })
    for (const { gid } of calls) expect(await postgresEffects(pool, gid)).toEqual(['action'])
    await dropPostgresDatabase(url, pool)
  })
  it('A call that is alone costs no statement more than with the plain barrier', async () => {
    const pool = await openPostgresDatabase(url, { max: 1 })
    const texts: string[] = []
    const barrier = postgresGroupBarrier(
      watched(pool, (text, run) => {
        texts.push(text)
        return run()
      }),
    )
    const branch = groupedBranch(barrier, {
      key: () => 'one',
      apply: async (tx, calls) => {
        await write(tx, calls)
        return calls.map(() => 'done')
      },
    })
    const call = { gid: 'plain', branchId: '01', op: 'action' } as const
    const act = (each: typeof call) =>
      barrier.run(each, async (tx) => {
        await write(tx, [{ call: each, entry: 0 }])
        return 'done'
      })
    await act({ ...call, gid: 'first' } as never)
    await act(call)
    const plain = texts.splice(0).slice(-5)
    await branch.run({ ...call, gid: 'alone' }, () => 0)
    expect(texts.map(readWord)).toEqual(plain.map(readWord))
    await dropPostgresDatabase(url, pool)
  })
  it('An account whose UUID is asked for in capitals is not called unknown', async () => {
    const pool = await openPostgresDatabase(url)
    await pool.query('CREATE TABLE owned (id uuid PRIMARY KEY, cents bigint NOT NULL)')
    const id = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
    await pool.query('INSERT INTO owned VALUES ($1, 5)', [id])
    const client = await pool.connect()
    const call = { gid: 'owned', branchId: '01', op: 'action' } as const
    const add = (asked: string) =>
      conditionalAdd({ table: 'owned', valueColumn: 'cents' })(client, [
        { call, entry: { id: asked, delta: 1 } },
      ])
    expect(await add(id)).toEqual([{ value: '6' }])
    const [refused] = await add(id.toUpperCase())
    expect(refused).toBeInstanceOf(Error)
    expect(refused).not.toBeInstanceOf(BranchFailure)
    client.release()
    await dropPostgresDatabase(url, pool)
  })
  conditionalAddSuite('postgres', async () => {
    const pool = await openPostgresDatabase(url)
    await pool.query(`CREATE TABLE account (id text PRIMARY KEY, cents bigint NOT NULL);
      CREATE TABLE numbered (id bigint PRIMARY KEY, cents int NOT NULL);
      CREATE TABLE ledger (number bigserial PRIMARY KEY, gid text, op text, account text, cents bigint)`)
    return {
      barrier: postgresGroupBarrier(pool),
      conditionalAdd,
      execute: async (sql) => {
        await pool.query(sql)
      },
      column: async (sql) => (await pool.query(sql)).rows.map(({ found }) => String(found)),
      literal: escapeLiteral,
      lockOnly: async (id, table = 'account') => {
        const client = await pool.connect()
        await client.query('BEGIN')
        await client.query(`SELECT cents FROM ${table} WHERE id = $1 FOR UPDATE`, [id])
        return async () => {
          await client.query('ROLLBACK')
          client.release()
        }
      },
      hasNarrowIntegers: true,
      widenKey: 'ALTER TABLE altered ALTER COLUMN id TYPE bigint',
      close: () => dropPostgresDatabase(url, pool),
    }
  })
})
