import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mysqlBarrier } from '../../src/barrier/mysql.ts'
import { postgresBarrier } from '../../src/barrier/postgres.ts'
import { type Barrier, BranchFailure, step, workflow } from '../../src/index.ts'
import type { Workflow } from '../../src/workflow/workflow.ts'
import { callHandler, PLAN, STEP } from '../workflow/shop.ts'
import { dropMysqlDatabase, openMysqlDatabase } from './mysql-fixture.ts'
import { dropPostgresDatabase, openPostgresDatabase } from './postgres-fixture.ts'

interface Opened<Tx> {
  readonly barrier: Barrier<Tx>
  readonly insert: (tx: Tx, sku: string) => Promise<unknown>
  readonly remove: (tx: Tx, sku: string) => Promise<unknown>
  listReserved(): Promise<readonly string[]>
  close(): Promise<void>
}

async function openMysql(url: string) {
  const pool = await openMysqlDatabase(url)
  await pool.query('CREATE TABLE reserved (sku VARCHAR(32) PRIMARY KEY)')
  const barrier = mysqlBarrier(pool)
  type Tx = Parameters<Parameters<typeof barrier.run>[1]>[0]
  const opened: Opened<Tx> = {
    barrier,
    insert: async (tx, sku) => tx.execute('INSERT INTO reserved VALUES (?)', [sku]),
    remove: async (tx, sku) => tx.execute('DELETE FROM reserved WHERE sku = ?', [sku]),
    listReserved: async () => {
      const [rows] = await pool.query('SELECT sku FROM reserved ORDER BY sku')
      return (rows as { readonly sku: string }[]).map(({ sku }) => sku)
    },
    close: () => dropMysqlDatabase(pool),
  }
  return opened
}

async function openPostgres(url: string) {
  const pool = await openPostgresDatabase(url)
  await pool.query('CREATE TABLE reserved (sku text PRIMARY KEY)')
  const barrier = postgresBarrier(pool)
  type Tx = Parameters<Parameters<typeof barrier.run>[1]>[0]
  const opened: Opened<Tx> = {
    barrier,
    insert: async (tx, sku) => tx.query('INSERT INTO reserved VALUES ($1)', [sku]),
    remove: async (tx, sku) => tx.query('DELETE FROM reserved WHERE sku = $1', [sku]),
    listReserved: async () => {
      const { rows } = await pool.query('SELECT sku FROM reserved ORDER BY sku')
      return rows.map(({ sku }) => sku as string)
    },
    close: () => dropPostgresDatabase(url, pool),
  }
  return opened
}

/** Reserves two things, of which the second one may be sold out. */
function createOrder<Tx>({ barrier, insert, remove }: Opened<Tx>) {
  const reserve = step('reserve', {
    do: async (tx: Tx, sku: string) => {
      await insert(tx, sku)
      if (sku === 'ü-none') throw new BranchFailure('sold out', { code: 'SOLD_OUT' })
      return { sku, said: 'grüß' }
    },
    undo: async (tx, sku, done) => {
      expect(done).toEqual({ sku, said: 'grüß' })
      await remove(tx, sku)
    },
  })
  const echo = step('echo', {
    do: async (_tx: Tx, text: string) => text,
    undo: async (_tx, text, done) => expect(done).toBe(text),
  })
  return workflow('order', { version: 1, barrier, steps: [reserve, echo] }, async (ctx, second: string) => {
    const first = await ctx.step(reserve, 'cup')
    return [first, await ctx.step(reserve, second)]
  })
}

const GRANTED = { ...PLAN, grant: { from: 1, count: 8 } }

function stepSuite<Tx>(open: (url: string) => Promise<Opened<Tx>>) {
  return (url: string) => {
    let opened: Opened<Tx>
    let workflows: readonly Workflow<unknown, unknown>[]
    beforeAll(async () => {
      opened = await open(url)
      workflows = [createOrder(opened)]
    })
    afterAll(() => opened.close())

    it('A step that is called twice at once takes effect once, and its undo takes back what its row says', async () => {
      const call = { ...STEP, step: 'reserve', input: 'saucer' }
      const answers = await Promise.all([1, 2].map(() => callHandler(workflows, 'action', call, '~7')))
      const value = { sku: 'saucer', said: 'grüß' }
      expect(answers.map(({ status, body }) => [status, body])).toEqual([
        [200, value],
        [200, value],
      ])
      const decisions = answers.map(({ headers }) => headers['counterstep-barrier'])
      expect(decisions.sort()).toEqual(['duplicate', 'run'])
      expect(await opened.listReserved()).toEqual(['saucer'])
      const undone = await callHandler(workflows, 'compensate', { ...call, input: 'cup' }, '~7')
      expect([undone.status, await opened.listReserved()]).toEqual([200, []])
    })

    it('A row keeps an input and a value of 16 KiB each', async () => {
      const text = 'ü'.repeat(8_000)
      const call = { ...STEP, step: 'echo', input: text }
      for (const decision of ['run', 'duplicate']) {
        const { body, headers } = await callHandler(workflows, 'action', call, '~9')
        expect([body, headers['counterstep-barrier']]).toEqual([text, decision])
      }
      expect((await callHandler(workflows, 'compensate', call, '~9')).status).toBe(200)
    })

    it('Granted steps run within the plan call, a failure is rolled back, and a repeated call finds what stands', async () => {
      const sold = await callHandler(workflows, 'plan', { ...GRANTED, input: 'ü-none' })
      const [cup, none] = [
        { slot: '~1', value: { sku: 'cup' } },
        { slot: '~2', failed: { code: 'SOLD_OUT' } },
      ]
      expect(sold.body).toMatchObject({ ran: [cup, none] })
      expect(await opened.listReserved()).toEqual(['cup'])
      const again = await callHandler(workflows, 'plan', { ...GRANTED, input: 'ü-pot' })
      expect(again.body).toMatchObject({ ran: [cup, { slot: '~2', value: { sku: 'ü-pot' } }] })
      expect(await opened.listReserved()).toEqual(['cup', 'ü-pot'])
      for (const slot of ['~3', '~2', '~1']) {
        expect((await callHandler(workflows, 'compensate', { v: 1, workflow: 'order' }, slot)).status).toBe(
          200,
        )
      }
      expect(await opened.listReserved()).toEqual([])
      const late = await callHandler(workflows, 'plan', { ...GRANTED, input: 'ü-pot' })
      expect(late.body).toHaveProperty('then.refused.code', 'ALREADY_COMPENSATED')
    })
  }
}

describeOn('mysql', 'steps of a workflow', stepSuite(openMysql))
describeOn('postgres', 'steps of a workflow', stepSuite(openPostgres))
