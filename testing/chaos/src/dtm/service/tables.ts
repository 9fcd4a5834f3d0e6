import type { Connection, ResultSetHeader } from 'mysql2/promise'

export const ACCOUNTS = 2_000
export const START_BALANCE = 1_000
/** Under the time that a server gives a branch, so that it is told why it waits. */
const LOCK_WAIT_S = 1

/** The tables of the participants. The table `barrier` has DTM's rule: the first row of a branch and op decides. */
const TABLES = [
  'CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT NOT NULL)',
  'CREATE TABLE effect (id BIGINT AUTO_INCREMENT PRIMARY KEY, gid VARCHAR(64) NOT NULL, branch VARCHAR(8) NOT NULL, ' +
    'op VARCHAR(16) NOT NULL, account INT NOT NULL, amount BIGINT NOT NULL)',
  'CREATE TABLE barrier (gid VARCHAR(64) NOT NULL, branch VARCHAR(8) NOT NULL, op VARCHAR(16) NOT NULL, ' +
    'reason VARCHAR(16) NOT NULL, PRIMARY KEY (gid, branch, op))',
  `INSERT INTO account SELECT seq, ${START_BALANCE} FROM seq_1_to_${ACCOUNTS}`,
  `SET GLOBAL innodb_lock_wait_timeout = ${LOCK_WAIT_S}`,
]

export async function createTables(connection: Connection): Promise<void> {
  for (const sql of TABLES) await connection.query(sql)
}

/** The change that a branch or a step makes to one account. */
export interface Effect {
  readonly gid: string
  readonly branch: string
  readonly op: string
  readonly account: number
  readonly amount: number
}

/** Changes the account and writes the effect down, in the database transaction of the connection. */
export async function applyEffect(connection: Connection, effect: Effect): Promise<void> {
  const { gid, branch, op, account, amount } = effect
  await connection.query('UPDATE account SET balance = balance + ? WHERE id = ?', [amount, account])
  await connection.query('INSERT INTO effect (gid, branch, op, account, amount) VALUES (?, ?, ?, ?, ?)', [
    gid,
    branch,
    op,
    account,
    amount,
  ])
}

interface BarrierRow {
  readonly gid: string
  readonly branch: string
  readonly op: string
  readonly reason: string
}

/** Tells whether the row is new. It waits for a database transaction that is inserting the same row. */
export async function insertBarrier(
  connection: Pick<Connection, 'query'>,
  row: BarrierRow,
): Promise<boolean> {
  const [{ affectedRows }] = await connection.query<ResultSetHeader>(
    'INSERT IGNORE INTO barrier (gid, branch, op, reason) VALUES (?, ?, ?, ?)',
    [row.gid, row.branch, row.op, row.reason],
  )
  return affectedRows === 1
}
