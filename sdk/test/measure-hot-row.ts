// Run by hand: node sdk/test/measure-hot-row.ts URL [callers] [seconds] [rounds] [lingerMs]
// URL: of a MySQL or MariaDB server, for a user who may make databases; it leaves none behind. One hot row, each call a
// conditional add and a ledger row behind the barrier: one transaction per call, then grouped, in rounds by turns.

import { randomBytes } from 'node:crypto'
import { createPool, type PoolConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise'
import { type Addition, conditionalAdd, migrateBarrier, mysqlBarrier } from '../src/barrier/mysql.ts'
import { groupedBranch } from '../src/grouped/grouped.ts'
import { type BarrierCall, BranchFailure, isBranchFailure } from '../src/index.ts'

const [server = '', callersText = '64', secondsText = '3', roundsText = '3', lingerText = '0'] =
  process.argv.slice(2)
const callers = Number(callersText)
const START_CENTS = 1_000
/** Of the calls so many are sent twice: half of these at once, half after the first's answer. */
const DUPLICATES = 0.05

interface Wish {
  readonly call: BarrierCall
  readonly delta: number
}
type Serve = (wish: Wish) => Promise<'run' | 'duplicate' | 'refused'>

const database = `cs_hot_row_${randomBytes(4).toString('hex')}`
const root = createPool({ uri: server, connectionLimit: 1 })
await root.query(`CREATE DATABASE ${database}`)
const url = new URL(server)
url.pathname = `/${database}`
const pool = createPool({ uri: url.href, connectionLimit: callers })
await migrateBarrier(pool)
await pool.query('CREATE TABLE account (id VARCHAR(32) PRIMARY KEY, cents BIGINT NOT NULL) ENGINE = InnoDB')
await pool.query(
  'CREATE TABLE ledger (number BIGINT AUTO_INCREMENT PRIMARY KEY, gid VARBINARY(128), op VARCHAR(16), account VARCHAR(32), cents BIGINT) ENGINE = InnoDB',
)

const barrier = mysqlBarrier(pool)

function plainOn(account: string): Serve {
  const add = async (tx: PoolConnection, { call, delta }: Wish) => {
    const update = 'UPDATE account SET cents = cents + ? WHERE id = ? AND cents + ? >= 0'
    const [done] = await tx.query<ResultSetHeader>(update, [delta, account, delta])
    if (done.affectedRows === 0) throw new BranchFailure('not enough', { code: 'INSUFFICIENT' })
    const insert = 'INSERT INTO ledger (gid, op, account, cents) VALUES (?, ?, ?, ?)'
    await tx.query(insert, [call.gid, call.op, account, delta])
  }
  return (wish) => answered(barrier.run(wish.call, (tx) => add(tx, wish)))
}

let groups = 0
let groupedCalls = 0
function groupedOn(account: string): Serve {
  const apply = conditionalAdd({
    table: 'account',
    valueColumn: 'cents',
    log: {
      table: 'ledger',
      columns: ['gid', 'op', 'account', 'cents'],
      values: ({ call, id, delta }) => [call.gid, call.op, id, delta],
    },
  })
  const branch = groupedBranch<PoolConnection, Addition>(barrier, {
    key: () => account,
    apply: (tx, calls) => {
      groups += 1
      groupedCalls += calls.length
      return apply(tx, calls)
    },
    lingerMs: Number(lingerText),
  })
  return ({ call, delta }) => answered(branch.run(call, () => ({ id: account, delta })))
}

async function answered(running: ReturnType<typeof barrier.run>): ReturnType<Serve> {
  try {
    const { decision } = await running
    if (decision === 'run' || decision === 'duplicate') return decision
    throw new Error(`an action was answered ${decision}`)
  } catch (error: unknown) {
    if (isBranchFailure(error)) return 'refused'
    throw error
  }
}

interface Round {
  readonly perSecond: number
  readonly refused: number
  readonly sentTwice: number
  readonly seenTwice: number
  readonly busy: number
}

let gids = 0
async function round(serve: Serve): Promise<Round> {
  const counts = { run: 0, refused: 0, duplicate: 0 }
  let sentTwice = 0
  let runTwice = 0
  const endAt = performance.now() + Number(secondsText) * 1_000
  const startAt = performance.now()
  const loop = performance.eventLoopUtilization()
  const call = async (): Promise<void> => {
    while (performance.now() < endAt) {
      const gid = `hot-${database}-${++gids}`
      // As much is added as is taken away, in the mean; now and then there is too little.
      const delta = Math.round((Math.random() - 0.5) * 400)
      const wish: Wish = { call: { gid, branchId: '01', op: 'action' }, delta: delta === 0 ? 1 : delta }
      if (Math.random() >= DUPLICATES) {
        counts[await serve(wish)] += 1
        continue
      }
      sentTwice += 1
      const isAtOnce = Math.random() < 0.5
      const both = isAtOnce
        ? await Promise.all([serve(wish), serve(wish)])
        : [await serve(wish), await serve(wish)]
      for (const each of both) counts[each] += 1
      if (both.filter((each) => each === 'run').length > 1) runTwice += 1
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  const tookSeconds = (performance.now() - startAt) / 1_000
  if (runTwice > 0) throw new Error(`${runTwice} calls ran twice`)
  const calls = counts.run + counts.refused + counts.duplicate
  return {
    perSecond: calls / tookSeconds,
    refused: counts.refused,
    sentTwice,
    seenTwice: counts.duplicate,
    busy: performance.eventLoopUtilization(loop).utilization,
  }
}

/** Everything that the tables say for themselves, and not what was answered. */
async function audit(account: string): Promise<Readonly<Record<string, number>>> {
  const number = async (sql: string): Promise<number> => {
    const [rows] = await pool.query<RowDataPacket[]>(sql, [account])
    return Number(rows[0]?.found)
  }
  return {
    cents: await number('SELECT cents AS found FROM account WHERE id = ?'),
    ledgerCents: await number('SELECT COALESCE(SUM(cents), 0) AS found FROM ledger WHERE account = ?'),
    ledgerRows: await number('SELECT COUNT(*) AS found FROM ledger WHERE account = ?'),
    gids: await number('SELECT COUNT(DISTINCT gid) AS found FROM ledger WHERE account = ?'),
    barrierRows: await number(
      'SELECT COUNT(*) AS found FROM counterstep_barrier b JOIN ledger l ON l.gid = b.gid AND l.account = ?',
    ),
  }
}

const WAYS = { plain: plainOn('plain'), grouped: groupedOn('grouped') } as const
const NAMES = ['plain', 'grouped'] as const
for (const name of NAMES) await pool.query('INSERT INTO account VALUES (?, ?)', [name, START_CENTS])
const rounds: Record<(typeof NAMES)[number], Round[]> = { plain: [], grouped: [] }
try {
  for (let number = 0; number < Number(roundsText); number++) {
    for (const name of NAMES) rounds[name].push(await round(WAYS[name]))
  }
  const median = (name: (typeof NAMES)[number]): number => {
    const sorted = rounds[name].map(({ perSecond }) => perSecond).sort((one, other) => one - other)
    return sorted[Math.floor(sorted.length / 2)] ?? 0
  }
  const [version] = await pool.query<RowDataPacket[]>('SELECT VERSION() AS version')
  console.log(`${version[0]?.version}, ${callers} callers, one row`)
  for (const name of NAMES) {
    console.log(name, Math.round(median(name)), 'calls/s; rounds', rounds[name])
    const found = await audit(name)
    const { cents, ledgerCents, ledgerRows, gids: distinct, barrierRows } = found
    const isWhole =
      cents === START_CENTS + (ledgerCents ?? 0) &&
      (cents ?? -1) >= 0 &&
      ledgerRows === distinct &&
      ledgerRows === barrierRows
    console.log(`  audit ${isWhole ? 'whole' : 'BROKEN'}`, found)
    if (!isWhole) process.exitCode = 1
  }
  console.log(
    `ratio ${(median('grouped') / median('plain')).toFixed(1)}, calls per group ${(groupedCalls / groups).toFixed(1)}`,
  )
} finally {
  await pool.query(`DROP DATABASE ${database}`)
  await pool.end()
  await root.end()
}
