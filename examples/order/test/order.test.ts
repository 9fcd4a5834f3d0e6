import { DatabaseSync } from 'node:sqlite'
import { BranchFailure } from '@counterstep/sdk'
import { runWorkflow } from '@counterstep/sdk/testing'
import { expect, it, onTestFinished } from 'vitest'
import { approval, createOrder, migrateShop } from '../src/order.ts'

const DAY_MS = 86_400_000
const ANSWERS = { charge: { paymentId: 1 }, ship: { parcelId: 2 } }

function openShop() {
  const tx = new DatabaseSync(':memory:')
  onTestFinished(() => tx.close())
  migrateShop(tx)
  const countReservations = () => tx.prepare('SELECT count(*) AS count FROM reservation').get()?.count
  return { tx, order: createOrder(tx, 'http://partners'), countReservations }
}

it('An order up to 500.00 needs no approval', async () => {
  const { tx, order, countReservations } = openShop()
  const outcome = await runWorkflow(order, { sku: 'chair', cents: 50_000 }, { tx, answers: ANSWERS })
  expect(outcome).toMatchObject({ status: 'succeeded', result: { parcelId: 2 } })
  expect(outcome.journal.map(({ id }) => id)).toEqual(['reserve', 'charge', 'ship', 'mail'])
  expect(countReservations()).toBe(1)
})

it('A larger order is shipped once it is approved', async () => {
  const { tx, order } = openShop()
  const signals = [{ name: approval.name, payload: { by: 'kim', isApproved: true }, afterMs: 3_600_000 }]
  const outcome = await runWorkflow(order, { sku: 'sofa', cents: 50_001 }, { tx, answers: ANSWERS, signals })
  expect(outcome).toMatchObject({ status: 'succeeded', elapsedMs: 3_600_000 })
})

it('A larger order that is not approved within a day is undone', async () => {
  const { tx, order, countReservations } = openShop()
  const outcome = await runWorkflow(order, { sku: 'sofa', cents: 50_001 }, { tx, answers: ANSWERS })
  expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'NOT_APPROVED' }, elapsedMs: DAY_MS })
  expect(outcome.undone).toEqual(['charge', 'reserve'])
  expect(countReservations()).toBe(0)
})

it('An order that the bank declines reserves nothing', async () => {
  const { tx, order, countReservations } = openShop()
  const charge = () => {
    throw new BranchFailure('no money', { code: 'DECLINED' })
  }
  const outcome = await runWorkflow(
    order,
    { sku: 'cup', cents: 900 },
    { tx, answers: { ...ANSWERS, charge } },
  )
  expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'DECLINED' } })
  expect(countReservations()).toBe(0)
})
