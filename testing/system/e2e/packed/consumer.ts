// A user may write this, one use of each entry. It is compiled against the packed types, never run.
import { DatabaseSync } from 'node:sqlite'
import {
  type Barrier,
  type Branch,
  BranchFailure,
  createClient,
  isRefused,
  parallel,
  branch as part,
  type Status,
  saga,
  type Tcc,
  type TransactionView,
  type TwoPhaseMessage,
  withBarrier,
} from '@counterstep/sdk'
import { mysqlBarrier, mysqlBarrierIn } from '@counterstep/sdk/barrier/mysql'
import { migrateBarrier, postgresBarrier, postgresBarrierIn } from '@counterstep/sdk/barrier/postgres'
import { redisBarrier } from '@counterstep/sdk/barrier/redis'
import { purgeBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import {
  branchHandler as expressHandler,
  queryPreparedHandler as expressQuery,
  signedCalls as expressSigned,
} from '@counterstep/sdk/express'
import {
  branchHandler as fastifyHandler,
  queryPreparedHandler as fastifyQuery,
  signedCalls as fastifySigned,
} from '@counterstep/sdk/fastify'
import { fetchHandler, queryPreparedHandler as fetchQuery } from '@counterstep/sdk/fetch'
import { type GroupedBranchOptions, groupedBranch, takeOut } from '@counterstep/sdk/grouped'
import { conditionalAdd, mysqlGroupBarrier } from '@counterstep/sdk/grouped/mysql'
import { postgresGroupBarrier } from '@counterstep/sdk/grouped/postgres'
import { sqliteGroupBarrier } from '@counterstep/sdk/grouped/sqlite'
import { type SignedCall, signedCallCheck } from '@counterstep/sdk/signatures'
import { assertBranch, BRANCH_RULES, type BranchReport, checkBranch } from '@counterstep/sdk/testing'
import express from 'express'
import fastify from 'fastify'
import { Redis } from 'ioredis'
import { createPool, type PoolConnection, type ResultSetHeader } from 'mysql2/promise'
import { Pool, type PoolClient } from 'pg'

interface Payment {
  readonly id: string
  readonly cents: number
}

export async function submit(): Promise<Status> {
  const client = createClient({ url: 'http://127.0.0.1:8470', retryForMs: 0 })
  const payment: Payment = { id: 'alice', cents: 1 }
  const trip = saga({ deadlineMs: 60_000 })
    .add(parallel(part('hotel', { action: 'http://hotel' }), part('flight', { action: 'http://flight' })))
    .branch('pay', { action: 'http://bank', payload: payment, after: ['hotel'] })
  // @ts-expect-error No branch before it has this id.
  trip.branch('mail', { action: 'http://mail', after: ['hotl'] })
  try {
    const { status } = await client.submit(trip, { waitMs: 1_000 })
    return status
  } catch (error: unknown) {
    if (!isRefused(error)) throw error
    const view: TransactionView = await client.wait(trip.gid)
    return view.status
  }
}

const pool = createPool({ uri: 'mysql://bank@127.0.0.1/bank' })
const mysql: Barrier<PoolConnection> = mysqlBarrier(pool)
const credit = async (tx: PoolConnection, { payload }: Branch<Payment>) => {
  const [done] = await tx.execute<ResultSetHeader>('UPDATE account SET cents = 1', [payload.cents])
  if (done.affectedRows === 0) throw new BranchFailure('no such account', { code: 'UNKNOWN_ACCOUNT' })
  return { cents: payload.cents }
}
export const app = fastify()
app.post('/credit', fastifyHandler(mysql, credit))
export const receipt: Promise<{ id: string } | undefined> = withBarrier(
  mysqlBarrierIn(await pool.getConnection()),
  { gid: 'g', branchId: '01', op: 'action' },
  () => ({ id: 'r' }),
)

const client = new Pool({ database: 'bank' })
const postgres: Barrier<PoolClient> = postgresBarrier(client, { timeoutMs: 5_000 })
export const migrated: Promise<void> = migrateBarrier(client)
export const inOwn: Barrier<PoolClient> = postgresBarrierIn(await client.connect())
export const router = express().use(express.json())
router.post(
  '/credit',
  expressHandler(postgres, async (tx, { payload }: Branch<Payment>) => {
    await tx.query('UPDATE account SET cents = $1', [payload.cents])
  }),
)

export const fetched: (request: Request) => Promise<Response> = fetchHandler(mysql, credit, {
  ops: ['action'],
})
export const asked: (request: Request) => Promise<Response> = fetchQuery(mysqlBarrier(pool))

const database = new DatabaseSync(':memory:')
export const sqlite: Barrier<DatabaseSync> = sqliteBarrier(database)
export const purged: number = purgeBarrier(database, { limit: 1 })

export const redis = fastifyHandler(redisBarrier(new Redis()), (tx, { payload }: Branch<Payment>) =>
  tx.add({ key: payload.id, delta: -payload.cents, minimum: 0 }),
)

const bounds: Pick<GroupedBranchOptions<PoolConnection, Payment>, 'groupMax'> = { groupMax: 8 }
export const grouped = groupedBranch(mysqlGroupBarrier(pool), {
  ...bounds,
  key: () => 'payment',
  apply: async (_tx, calls) =>
    calls.map(({ entry }) => (entry.delta > 0 ? undefined : takeOut(new Error('no')))),
} satisfies GroupedBranchOptions<PoolConnection, { readonly delta: number }>)
export const added = groupedBranch(mysqlGroupBarrier(pool), {
  key: () => 'account',
  apply: conditionalAdd({ table: 'account', valueColumn: 'cents' }),
})

export const groupBarriers: readonly object[] = [postgresGroupBarrier(client), sqliteGroupBarrier(database)]

export const report: Promise<BranchReport> = checkBranch({
  service: { fastify: app },
  action: '/credit',
  compensation: '/credit',
  read: () => database.prepare('SELECT 1').get(),
})
export const asserted = assertBranch({
  service: { listener: router },
  action: '/',
  compensation: '/',
  read: () => 1,
})
export const rule: string = BRANCH_RULES.DUPLICATE_RAN_TWICE

const orders = createClient({ url: 'http://127.0.0.1:8470' })
const order: TwoPhaseMessage = orders.message({
  branches: [{ action: 'http://stock/reserve', payload: { order: 17 } }],
  check: { url: 'http://shop/query-prepared' },
})
app.get('/query-prepared', fastifyQuery(mysqlBarrier(pool)))
router.get('/query-prepared', expressQuery(postgresBarrier(client)))
export async function placeOrder(): Promise<number> {
  const { answer } = await order.doAndSubmit(mysqlBarrier(pool), async (tx) => {
    await tx.execute('INSERT INTO orders VALUES (17)')
    return { number: 17 }
  })
  const plain = orders.message({ branches: [{ action: 'http://mail/welcome' }] })
  // @ts-expect-error No service could be asked about its local transaction.
  plain.doAndSubmit
  // @ts-expect-error A barrier in a transaction of one's own cannot tell of it afterwards.
  await order.doAndSubmit(postgresBarrierIn(await client.connect()), () => undefined)
  await plain.submit({ waitMs: 1_000 })
  return answer?.number ?? 0
}
export async function bookTrip(nested: Branch): Promise<number> {
  const urls = { try: 'http://hotel/try', confirm: 'http://hotel/ok', cancel: 'http://hotel/undo' }
  const { answer } = await orders.runTcc({ deadlineMs: 20_000 }, async (tcc) => {
    const { room } = await tcc.try<{ room: number }>({ ...urls, payload: { nights: 2 } })
    return room
  })
  const parsed: number = await orders.tccOf(nested).try({ ...urls, parse: (each) => Number(each) })
  const steps: Tcc = orders.tcc()
  await steps.prepare()
  const { branchId } = await steps.register({ confirm: urls.confirm, cancel: urls.cancel })
  await steps.abort({ reason: branchId })
  return answer + parsed
}

const signed = { keys: [''], baseUrl: 'https://bank.example' }
express().use(expressSigned(signed))
fastify().addHook('preParsing', fastifySigned(signed))
express().use(expressSigned({ keys: [''], trustHost: true }))
// @ts-expect-error: A service says where it is, or by name that it believes the Host header.
express().use(expressSigned({ keys: [''] }))
const arrived: SignedCall = { method: 'POST', url: '/debit', headers: new Headers(), body: new Uint8Array() }
export const refusedStatus: number | undefined = signedCallCheck(signed)(arrived)?.answer.statusCode
