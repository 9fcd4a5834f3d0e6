import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { BranchFailure } from '@counterstep/sdk'
import { migrateBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import { branchHandler } from '@counterstep/sdk/express'
import { assertBranch, BranchRulesBrokenError } from '@counterstep/sdk/testing'
import express from 'express'
import { Wallet, walletUnderTest } from './wallet.ts'

test('A right service passes', async () => {
  await assertBranch(walletUnderTest(new Wallet()))
})

test('A wrong service does not pass', () =>
  assert.rejects(
    assertBranch(walletUnderTest(new Wallet('forgets a null compensation'))),
    (error: unknown) => {
      assert(error instanceof BranchRulesBrokenError)
      return error.report.violations.every(({ code }) => code === 'ACTION_RAN_AFTER_COMPENSATION')
    },
  ))

test('The debit is a safe participant', async () => {
  const database = new DatabaseSync(':memory:')
  migrateBarrier(database)
  database.exec("CREATE TABLE account (id TEXT, cents INTEGER); INSERT INTO account VALUES ('alice', 1000)")
  const barrier = sqliteBarrier<DatabaseSync>(database)
  const move = (sign: 1 | -1) =>
    branchHandler(barrier, (tx, { payload }: { payload: { id: string; cents: number } }) => {
      const sql = 'UPDATE account SET cents = cents + ? WHERE id = ? AND cents + ? >= 0'
      const delta = sign * payload.cents
      if (tx.prepare(sql).run(delta, payload.id, delta).changes === 0)
        throw new BranchFailure('not enough money')
    })
  const app = express()
    .set('env', 'test')
    .use(express.json({ limit: '1mb', strict: false }))

  await assertBranch({
    service: { listener: app.post('/debit', move(-1)).post('/debit-undo', move(1)) },
    action: '/debit',
    compensation: '/debit-undo',
    payload: { id: 'alice', cents: 100 },
    refusedPayload: { id: 'alice', cents: 1_000_000 },
    read: () => database.prepare('SELECT cents FROM account').get(),
    drain: () => database.exec('UPDATE account SET cents = 0'),
  })
})
