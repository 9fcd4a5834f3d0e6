import { assertBranch, type BranchUnderTest } from '@counterstep/sdk/testing'
import type { RowDataPacket } from 'mysql2/promise'
import { expect, it } from 'vitest'
import { creditService } from '../../src/credit-service.ts'
import { debitService } from '../../src/debit-service.ts'
import { describeOnBoth, openPools } from './both-servers.ts'

const LIMIT_MS = 120_000

/** Asserts that the kit checks everything that it can, and that each check passes. */
async function mustPass(branch: BranchUnderTest): Promise<void> {
  const { checks } = await assertBranch({ lingerMs: 100, isPivot: true, ...branch })
  const others = checks.filter(({ outcome }) => outcome !== 'passed').map(({ name }) => name)
  // Money that a debit has taken cannot be spent.
  expect(others).toEqual(branch.spend === undefined ? ['spent'] : [])
  expect(checks.length).toBeGreaterThan(10)
}

describeOnBoth('the test kit of the SDK', (open) => {
  it(
    'The Express service on MySQL passes the test kit',
    async () => {
      const { debitPool } = await openPools(await open())
      await debitPool.query("INSERT INTO account VALUES ('alice', 100000)")
      const errors: unknown[] = []
      await mustPass({
        service: { listener: debitService(debitPool, (error) => errors.push(error)) },
        action: '/debit',
        compensation: '/debit-undo',
        payload: { account: 'alice', cents: 100 },
        refusedPayload: { account: 'nobody', cents: 100 },
        read: async () => {
          const sql = 'SELECT cents, (SELECT count(*) FROM entry) AS entries FROM account'
          return (await debitPool.query<RowDataPacket[]>(sql))[0]
        },
        drain: () => debitPool.query('UPDATE account SET cents = 0'),
        outage: {
          begin: () => debitPool.query('RENAME TABLE entry TO away'),
          end: () => debitPool.query('RENAME TABLE away TO entry'),
        },
      })
      // The service logged the outage and the broken payloads.
      expect(errors).not.toEqual([])
    },
    LIMIT_MS,
  )

  it(
    'The Fastify service on PostgreSQL passes the test kit',
    async () => {
      const { creditPool } = await openPools(await open())
      await creditPool.query("INSERT INTO account VALUES ('bob', 0, false), ('dora', 0, true)")
      await mustPass({
        service: { fastify: creditService(creditPool, 'silent') },
        action: '/credit',
        compensation: '/credit-undo',
        payload: { account: 'bob', cents: 100 },
        refusedPayload: { account: 'dora', cents: 100 },
        read: async () => {
          const sql = 'SELECT id, cents, (SELECT count(*) FROM entry) AS entries FROM account ORDER BY id'
          return (await creditPool.query(sql)).rows
        },
        spend: () => creditPool.query('UPDATE account SET cents = 0'),
        drain: () => creditPool.query('UPDATE account SET frozen = true'),
        outage: {
          begin: () => creditPool.query('ALTER TABLE entry RENAME TO away'),
          end: () => creditPool.query('ALTER TABLE away RENAME TO entry'),
        },
      })
    },
    LIMIT_MS,
  )
})
