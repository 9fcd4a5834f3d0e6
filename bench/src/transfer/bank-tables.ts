import { mysqlBarrierMigrations } from '@counterstep/sdk/barrier/mysql'
import type { SqlLink } from '../stores/sql-link.ts'
import type { ColumnName } from './columns.ts'

/** So much that no transfer of a run is refused. */
export const START_CENTS = 1_000_000

/** The owner of the tables: a column, or our own transaction without a service. */
export type BankName = ColumnName | 'writes'

export interface Bank {
  readonly names: readonly BankName[]
  /** The number in each of the tables. */
  readonly accounts: number
}

export interface BankTables {
  readonly account: string
  readonly ledger: string
  readonly barrier: string
}

/** Each column has its own, so that each is audited by itself and none profits of another's warm pages. */
export function toTables(name: BankName): BankTables {
  const suffix = name.replaceAll('-', '_')
  return { account: `account_${suffix}`, ledger: `ledger_${suffix}`, barrier: `barrier_${suffix}` }
}

/** All tables, in the database that the link has chosen; the accounts are made once and copied. */
export async function createBank(
  link: SqlLink,
  { names, accounts }: Bank,
  onFilled: (tables: number) => void,
): Promise<void> {
  const all = names.map(toTables)
  for (const [index, { account, ledger, barrier }] of all.entries()) {
    await link.run(
      `CREATE TABLE ${account} (id INT PRIMARY KEY, cents BIGINT NOT NULL, updated_at DATETIME NOT NULL DEFAULT NOW() ON UPDATE NOW()) ENGINE = InnoDB`,
    )
    await link.run(
      `CREATE TABLE ${ledger} (
        number BIGINT AUTO_INCREMENT PRIMARY KEY,
        account INT NOT NULL,
        cents BIGINT NOT NULL,
        gid VARBINARY(128) NOT NULL,
        branch_id VARBINARY(128) NOT NULL,
        created_at DATETIME NOT NULL DEFAULT NOW(),
        KEY (account),
        KEY (created_at)
      ) ENGINE = InnoDB`,
    )
    for (const { sql } of mysqlBarrierMigrations(barrier)) await link.run(sql)
    const first = all[0]?.account
    await link.run(
      index === 0 ? firstAccounts(account, accounts) : `INSERT INTO ${account} SELECT * FROM ${first}`,
    )
    onFilled(index + 1)
  }
}

/** Numbers of digits: a recursive query would need other settings in MySQL than in MariaDB. */
function firstAccounts(table: string, accounts: number): string {
  const digits = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS d`).join(' UNION ALL ')
  const places = Array.from({ length: String(accounts - 1).length }, (_, place) => 10 ** place)
  const number = places.map((place, index) => `${place} * p${index}.d`).join(' + ')
  const from = places.map((_, index) => `(${digits}) AS p${index}`).join(', ')
  return `INSERT INTO ${table} (id, cents)
    SELECT 1 + ${number} AS id, ${START_CENTS} FROM ${from}
    WHERE ${number} < ${accounts} ORDER BY id`
}
