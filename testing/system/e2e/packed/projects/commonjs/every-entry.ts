import { createClient, type SubmitOptions, saga, type TransactionView } from '@counterstep/sdk'
import { mysqlBarrier } from '@counterstep/sdk/barrier/mysql'
import { postgresBarrier } from '@counterstep/sdk/barrier/postgres'
import { redisBarrier } from '@counterstep/sdk/barrier/redis'
import { sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import { branchHandler as expressHandler } from '@counterstep/sdk/express'
import { branchHandler as fastifyHandler } from '@counterstep/sdk/fastify'
import { fetchHandler } from '@counterstep/sdk/fetch'
import { groupedBranch } from '@counterstep/sdk/grouped'
import { mysqlGroupBarrier } from '@counterstep/sdk/grouped/mysql'
import { postgresGroupBarrier } from '@counterstep/sdk/grouped/postgres'
import { sqliteGroupBarrier } from '@counterstep/sdk/grouped/sqlite'
import { createOperator } from '@counterstep/sdk/operator'
import { signedCallCheck } from '@counterstep/sdk/signatures'
import { assertBranch } from '@counterstep/sdk/testing'

const client = createClient({ url: 'http://127.0.0.1:8470' })
const options: SubmitOptions = { waitMs: 1_000 }
export const submitted: Promise<TransactionView> = client.submit(
  saga().branch('debit', { action: 'http://a' }),
  options,
)
// @ts-expect-error The options are known to the compiler, so that they are not of the type any.
client.submit(saga(), { waitMs: 'long' })
export const used: readonly object[] = [
  ...[mysqlBarrier, postgresBarrier, redisBarrier, sqliteBarrier, expressHandler, fastifyHandler],
  ...[fetchHandler, groupedBranch, signedCallCheck, assertBranch, createOperator],
  ...[mysqlGroupBarrier, postgresGroupBarrier, sqliteGroupBarrier],
]
