import { describeOn } from '@counterstep/test-servers/vitest'
import type { Pool as MysqlPool } from 'mysql2/promise'
import type { Pool as PostgresPool } from 'pg'
import { onTestFinished } from 'vitest'
import { createCreditPool, migrateCreditDatabase } from '../../src/credit-database.ts'
import { createDebitPool, migrateDebitDatabase } from '../../src/debit-database.ts'
import { createDatabases, type Databases } from '../databases.ts'

/** `open` makes two empty databases, which are dropped when the test is over. */
export function describeOnBoth(title: string, define: (open: () => Promise<Databases>) => void): void {
  describeOn('mariadb', title, (mysql) => {
    describeOn('postgres', 'and', (postgres) => {
      define(async () => {
        const databases = await createDatabases({ mysql, postgres })
        onTestFinished(databases.drop)
        return databases
      })
    })
  })
}

export interface Pools {
  readonly debitPool: MysqlPool
  readonly creditPool: PostgresPool
}

/** Opens the pools of the two services with all their tables. They are closed when the test is over. */
export async function openPools({ mysqlUrl, postgresUrl }: Databases): Promise<Pools> {
  const debitPool = createDebitPool(mysqlUrl)
  onTestFinished(() => debitPool.end())
  await migrateDebitDatabase(debitPool)
  const creditPool = createCreditPool(postgresUrl)
  onTestFinished(() => creditPool.end())
  await migrateCreditDatabase(creditPool)
  return { debitPool, creditPool }
}
