import { describeOn } from '@counterstep/test-servers/vitest'
import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mysqlBarrier } from '../../src/barrier/mysql.ts'
import { groupedBranch } from '../../src/grouped/grouped.ts'
import { conditionalAdd, mysqlGroupBarrier } from '../../src/grouped/mysql.ts'
import { type BarrierCall, BranchFailure } from '../../src/index.ts'
import {
  beforeEachStatement,
  dropMysqlDatabase,
  isWaitingFor,
  openMysqlDatabase,
  readWord,
} from './mysql-fixture.ts'

const DEBIT = { id: 1, delta: -1 } as const

const toCall = (gid: string): BarrierCall => ({ gid, branchId: '01', op: 'action' })

const makeCalls = (prefix: string, count: number): BarrierCall[] =>
  Array.from({ length: count }, (_, number) => toCall(`${prefix}-${number}`))

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'groups that are decided before anything is written', (url) => {
    describe(`on ${server}`, () => {
      let pool: Pool
      beforeEach(async () => {
        pool = await openMysqlDatabase(url)
        await pool.query('CREATE TABLE account (id INT PRIMARY KEY, cents BIGINT NOT NULL) ENGINE = InnoDB')
        await pool.query('INSERT INTO account VALUES (1, 100)')
      })
      afterEach(() => dropMysqlDatabase(pool))

      const debits = (before: Parameters<typeof beforeEachStatement>[1] = () => undefined) =>
        groupedBranch(mysqlGroupBarrier(beforeEachStatement(pool, before)), {
          key: () => 'one',
          apply: conditionalAdd({ table: 'account', valueColumn: 'cents' }),
        })
      const listDecisions = async (branch: ReturnType<typeof debits>, calls: readonly BarrierCall[]) => {
        const outcomes = await Promise.all(calls.map((call) => branch.run(call, () => DEBIT)))
        return outcomes.map(({ decision }) => decision)
      }
      const cents = async (): Promise<number> => {
        const [rows] = await pool.query<RowDataPacket[]>('SELECT cents FROM account')
        return Number(rows[0]?.cents)
      }
      const countRows = async (): Promise<{ readonly rows: number; readonly answered: number }> => {
        const [rows] = await pool.query<RowDataPacket[]>(
          'SELECT COUNT(*) AS total, COUNT(answer) AS answered FROM counterstep_barrier',
        )
        return { rows: Number(rows[0]?.total), answered: Number(rows[0]?.answered) }
      }
      /** Serves the call elsewhere: in another process, for all that the group can know. */
      const serveElsewhere = (call: BarrierCall) =>
        mysqlBarrier(pool).run(call, async (tx) => {
          await tx.query('UPDATE account SET cents = cents - 1 WHERE id = 1')
          return 'elsewhere'
        })

      it('A gid that an earlier transaction has used is refused, beside others that run', async () => {
        const DAY_MS = 24 * 3_600_000
        const earlier = makeCalls('reused', 3).map((call) => ({
          ...call,
          acceptedAt: Date.now() - 8 * DAY_MS,
        }))
        const past = mysqlBarrier(pool, { now: () => Date.now() - 8 * DAY_MS })
        for (const call of earlier) await past.run(call, () => 'earlier')
        const calls = [...makeCalls('reused', 3), ...makeCalls('fresh', 3)]
        const accepted = calls.map((call) => ({ ...call, acceptedAt: Date.now() }))
        const branch = debits()
        // The second time it looks first, since it has met rows that stood.
        for (const decision of ['run', 'duplicate']) {
          const settled = await Promise.allSettled(accepted.map((call) => branch.run(call, () => DEBIT)))
          const told = settled.map((each) =>
            each.status === 'fulfilled' ? each.value.decision : (each.reason as { code?: string }).code,
          )
          expect(told).toEqual([...Array(3).fill('GID_REUSED'), ...Array(3).fill(decision)])
        }
        // Mutant: without the instant they are taken for the earlier transaction's own.
        expect(await listDecisions(debits(), makeCalls('reused', 3))).toEqual(Array(3).fill('duplicate'))
        expect([await cents(), await countRows()]).toEqual([97, { rows: 6, answered: 6 }])
      })

      it('A group writes each row of the barrier once, and looks first where duplicates are usual', async () => {
        const texts: string[] = []
        const branch = debits((sql) => texts.push(sql))
        const statements = () => texts.splice(0).map(readWord)
        // The first group learns of what type the key column is.
        await listDecisions(branch, makeCalls('first', 1))
        texts.length = 0
        const fresh = ['START', 'SET', 'SELECT', 'INSERT', 'UPDATE', 'SET', 'COMMIT']
        expect(await listDecisions(branch, makeCalls('a', 3))).toEqual(Array(3).fill('run'))
        expect(statements()).toEqual(fresh)
        const some = [...makeCalls('a', 1), ...makeCalls('b', 3)]
        expect(await listDecisions(branch, some)).toEqual(['duplicate', 'run', 'run', 'run'])
        // The rows that it read and locked before the insert failed are forgotten with the transaction, which is
        // begun again.
        expect(statements()).toEqual([...fresh.slice(0, 4), 'SELECT', 'START', ...fresh.slice(2)])
        const more = [...makeCalls('b', 1), ...makeCalls('c', 3)]
        expect(await listDecisions(branch, more)).toEqual(['duplicate', 'run', 'run', 'run'])
        expect(statements()).toEqual(['START', 'SET', 'SELECT', 'START', ...fresh.slice(2)])
        expect(await listDecisions(branch, makeCalls('c', 3))).toEqual(Array(3).fill('duplicate'))
        // Without a row of its own the group writes one and deletes it, so that its COMMIT waits for the disk.
        const flushing = ['INSERT', 'DELETE', 'SET', 'COMMIT']
        expect(statements()).toEqual(['START', 'SET', 'SELECT', 'START', ...flushing])
        expect(await listDecisions(branch, makeCalls('d', 3))).toEqual(Array(3).fill('run'))
        texts.splice(0)
        expect(await listDecisions(branch, makeCalls('e', 3))).toEqual(Array(3).fill('run'))
        expect(statements()).toEqual(fresh)
        expect([await cents(), await countRows()]).toEqual([84, { rows: 16, answered: 16 }])
      })

      it('The plan for a call is forgotten when another process has served it meanwhile', async () => {
        const [first, ...others] = makeCalls('once', 5)
        let isServed = false
        const branch = debits(async (sql) => {
          if (isServed || !sql.startsWith('SELECT HEX')) return
          isServed = true
          await serveElsewhere(first as BarrierCall)
        })
        const outcomes = await Promise.all(
          [first as BarrierCall, ...others].map((call) => branch.run(call, () => DEBIT)),
        )
        expect(outcomes).toEqual([
          { decision: 'duplicate', answer: '"elsewhere"' },
          ...[98, 97, 96, 95].map((value) => ({ decision: 'run', answer: `{"value":"${value}"}` })),
        ])
        expect([await cents(), await countRows()]).toEqual([95, { rows: 5, answered: 5 }])
      })

      it('A call whose row stands gets its first answer, even where it would be refused now', async () => {
        const [run, failing] = makeCalls('first', 2) as [BarrierCall, BarrierCall]
        const before = debits()
        await Promise.all([before.run(run, () => ({ id: 1, delta: -99 })), before.run(failing, () => DEBIT)])
        const branch = debits()
        const told = async (call: BarrierCall, effect: () => typeof DEBIT) =>
          branch.run(call, effect).catch((error: { readonly code?: string }) => error.code)
        const outcomes = await Promise.all([
          told(run, () => DEBIT),
          told(failing, () => {
            throw new BranchFailure('no', { code: 'NO' })
          }),
          told(toCall('late'), () => DEBIT),
          told(toCall('also late'), () => {
            throw new BranchFailure('no', { code: 'NO' })
          }),
        ])
        expect(outcomes).toEqual([
          { decision: 'duplicate', answer: '{"value":"1"}' },
          { decision: 'duplicate', answer: '{"value":"0"}' },
          'INSUFFICIENT',
          'NO',
        ])
        expect([await cents(), await countRows()]).toEqual([0, { rows: 2, answered: 2 }])
      })

      it('A handler is asked once, however often its call is planned', async () => {
        await debits().run(toCall('stands'), () => DEBIT)
        const branch = debits()
        const asked: string[] = []
        const decide = async (gid: string) => {
          const handler = async () => {
            asked.push(gid)
            await new Promise((resolve) => setImmediate(resolve))
            return DEBIT
          }
          return (await branch.run(toCall(gid), handler)).decision
        }
        const gids = ['one', 'two', 'stands', 'three']
        expect(await Promise.all(gids.map(decide))).toEqual(['run', 'run', 'duplicate', 'run'])
        expect(asked).toEqual(gids)
      })

      it('An undo in a group is served in the way that knows what was done', async () => {
        const texts: string[] = []
        const branch = debits((sql) => texts.push(sql))
        const late = toCall('late')
        const undo = { ...late, op: 'compensate' } as const
        expect(await listDecisions(branch, [undo, ...makeCalls('u', 2)])).toEqual([
          'null-compensation',
          'run',
          'run',
        ])
        // It is so once where nothing tells that rows stand, and once where that is usual.
        for (const prefix of ['v', 'w'])
          expect(await listDecisions(branch, [late, ...makeCalls(prefix, 2)])).toEqual([
            'already-compensated',
            'run',
            'run',
          ])
        expect([await cents(), await countRows()]).toEqual([94, { rows: 8, answered: 6 }])
      })

      it('A group that has written begins no new transaction', async () => {
        const actions = makeCalls('several', 3)
        const confirms = actions.map((call) => ({ ...call, op: 'confirm' }) as const)
        await serveElsewhere(confirms[0] as BarrierCall)
        const texts: string[] = []
        const branch = debits((sql) => texts.push(sql))
        expect(await listDecisions(branch, [...actions, ...confirms])).toEqual([
          ...Array(3).fill('run'),
          'duplicate',
          ...Array(2).fill('run'),
        ])
        expect(texts.filter((sql) => readWord(sql) === 'START')).toHaveLength(1)
        expect([await cents(), await countRows()]).toEqual([94, { rows: 6, answered: 6 }])
      })

      it('The rows of a group are inserted in one order, whatever the order of its calls', async () => {
        let insert = ''
        const branch = debits((sql) => {
          if (sql.startsWith('INSERT')) insert = sql
        })
        const calls = makeCalls('order', 4)
        await listDecisions(branch, calls.toReversed())
        const places = calls.map(({ gid }) => insert.toLowerCase().indexOf(Buffer.from(gid).toString('hex')))
        expect(places).toEqual(places.toSorted((one, other) => one - other))
        expect(places[0]).toBeGreaterThan(0)
      })

      it('A grouped branch goes row by row for a minute after it has waited in vain for a row, and holds up no other call', async () => {
        const twin = toCall('twin')
        let letGo = (): void => undefined
        const held = new Promise<void>((resolve) => {
          letGo = resolve
        })
        let isThere = (): void => undefined
        const inserted = new Promise<void>((resolve) => {
          isThere = resolve
        })
        const plain = mysqlBarrier(pool).run(twin, async () => {
          isThere()
          await held
        })
        await inserted
        const texts: string[] = []
        const branch = debits((sql) => texts.push(sql))
        const others = makeCalls('other', 40)
        const running = [twin, ...others].map((call) => branch.run(call, () => DEBIT))
        const settled = await Promise.allSettled(running)
        expect(settled[0]).toMatchObject({ status: 'rejected', reason: { code: 'BARRIER_CONTENDED' } })
        expect(settled.slice(1).map(({ status }) => status)).toEqual(Array(40).fill('fulfilled'))
        letGo()
        await plain
        texts.splice(0)
        expect(await listDecisions(branch, makeCalls('after', 3))).toEqual(Array(3).fill('run'))
        expect(texts.map(readWord)).toEqual([
          'START',
          'SET',
          'INSERT',
          'SELECT',
          'UPDATE',
          'SET',
          'INSERT',
          'COMMIT',
        ])
        expect([await cents(), await countRows()]).toEqual([57, { rows: 44, answered: 44 }])
      })

      it('No plan is made where a lost transaction would go unnoticed', async () => {
        const [rows] = await pool.query<RowDataPacket[]>('SELECT DATABASE() AS name')
        const own = createPool({ uri: `${url}/${rows[0]?.name}`, connectionLimit: 1 })
        await own.query('SET SESSION autocommit = 0')
        const apply = conditionalAdd({ table: 'account', valueColumn: 'cents' })
        const losing = beforeEachStatement(own, async (sql, connection) => {
          if (sql.startsWith('SET SESSION')) await connection.query('ROLLBACK')
        })
        const branch = groupedBranch(mysqlGroupBarrier(losing), { key: () => 'one', apply })
        const running = makeCalls('unnoticed', 3).map((call) => branch.run(call, () => DEBIT))
        for (const { reason } of (await Promise.allSettled(running)) as PromiseRejectedResult[])
          expect(reason).toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
        await own.end()
        expect([await cents(), await countRows()]).toEqual([100, { rows: 0, answered: 0 }])
      })

      it('A wrapper around conditionalAdd is called', async () => {
        let calls = 0
        const apply = new Proxy(conditionalAdd({ table: 'account', valueColumn: 'cents' }), {
          apply: (add, self, values) => {
            calls += 1
            return Reflect.apply(add, self, values)
          },
        })
        const branch = groupedBranch(mysqlGroupBarrier(pool), { key: () => 'one', apply })
        await listDecisions(branch, makeCalls('around', 3))
        expect([calls, await cents()]).toEqual([1, 97])
      })

      it('A refused call of a group leaves no row, and the others leave all of theirs', async () => {
        const branch = debits()
        const outcomes = await Promise.allSettled(
          [-60, -60, -40, -1].map((delta, at) => branch.run(toCall(`mixed-${at}`), () => ({ id: 1, delta }))),
        )
        expect(outcomes.map(({ status }) => status)).toEqual([
          'fulfilled',
          'rejected',
          'fulfilled',
          'rejected',
        ])
        expect([await cents(), await countRows()]).toEqual([0, { rows: 2, answered: 2 }])
        await pool.query('UPDATE account SET cents = 100')
        expect(await branch.run(toCall('mixed-1'), () => ({ id: 1, delta: -60 }))).toMatchObject({
          decision: 'run',
        })
      })

      it('No effect is reported whose transaction was lost on its way', async () => {
        const branch = debits(async (sql, connection) => {
          if (sql.startsWith('SET SESSION')) await connection.query('ROLLBACK')
        })
        const running = makeCalls('lost', 3).map((call) => branch.run(call, () => DEBIT))
        for (const { reason } of (await Promise.allSettled(running)) as PromiseRejectedResult[])
          expect(reason).toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
        expect([await cents(), await countRows()]).toEqual([100, { rows: 0, answered: 0 }])
      })

      it('A group ends even when another process serves one of its calls before each insert', async () => {
        const calls = makeCalls('often', 12)
        const inserts: string[] = []
        const branch = debits(async (sql) => {
          if (!sql.startsWith('INSERT INTO `counterstep_barrier`')) return
          const call = calls[inserts.push(sql) - 1]
          // There are three plans, and three inserts of all rows that are missing.
          if (inserts.length <= 6 && call !== undefined) await mysqlBarrier(pool).run(call, () => 'elsewhere')
        })
        const decisions = await listDecisions(branch, calls)
        expect(decisions).toEqual([...Array(6).fill('duplicate'), ...Array(6).fill('run')])
        // In the end it goes row by row, and writes the answers by a statement of their own.
        expect(inserts).toHaveLength(3 + 3 + 7 + 1)
        expect(inserts.at(-1)).toContain('ON DUPLICATE KEY')
        expect([await cents(), await countRows()]).toEqual([94, { rows: 12, answered: 12 }])
      })

      it('A call that runs alone and in a group has one effect, though each waits for what the other has locked', async () => {
        const [both, ...others] = makeCalls('both', 4) as [BarrierCall, ...BarrierCall[]]
        let grouped: ReturnType<typeof listDecisions> | undefined
        const plain = mysqlBarrier(pool).run(both, async (tx) => {
          grouped ??= listDecisions(debits(), [both, ...others])
          await expect.poll(() => isWaitingFor(pool, both.gid), { interval: 250, timeout: 8_000 }).toBe(true)
          await tx.query('UPDATE account SET cents = cents - 1 WHERE id = 1')
          return 'plain'
        })
        const [{ decision }, decisions] = await Promise.all([plain, plain.then(() => grouped)])
        expect([decision, decisions?.[0]].toSorted()).toEqual(['duplicate', 'run'])
        expect(decisions?.slice(1)).toEqual(Array(3).fill('run'))
        expect([await cents(), await countRows()]).toEqual([96, { rows: 4, answered: 4 }])
      })
    })
  })
}
