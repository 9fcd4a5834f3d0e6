import type { Branch } from '@counterstep/sdk'
import { mysqlBarrier } from '@counterstep/sdk/barrier/mysql'
import { branchHandler } from '@counterstep/sdk/fastify'
import { type Addition, groupedBranch } from '@counterstep/sdk/grouped'
import { conditionalAdd, mysqlGroupBarrier } from '@counterstep/sdk/grouped/mysql'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Pool, PoolConnection } from 'mysql2/promise'
import { type BankTables, toTables } from './bank-tables.ts'
import { type Booking, book } from './book.ts'
import { type Column, SERVICES, type ServiceName } from './columns.ts'
import { inTransaction } from './in-transaction.ts'

/** The body that the gateway sends to a service, directly or as a branch's payload. */
export interface TransferPart {
  readonly account: number
  readonly cents: number
}

/** The query of a column's calls; without a saga there is no op. */
interface PlainQuery {
  readonly gid: string
  readonly branch_id: string
  readonly op?: string
}

/** Both services of one column: what one takes away the other adds; an undo does the opposite. */
export function serveColumn(app: FastifyInstance, pool: Pool, { name, branch, pairs }: Column): void {
  const tables = toTables(name)
  switch (branch) {
    case 'plain':
      for (const service of SERVICES) app.post(toPath(name, service), plain(pool, tables, service, pairs))
      break
    case 'barrier': {
      const barrier = mysqlBarrier(pool, { table: tables.barrier })
      for (const service of SERVICES) {
        const handler = async (tx: PoolConnection, call: Branch<TransferPart>): Promise<void> => {
          const cents = signedCents(service, call.op, call.payload)
          await book(tx, tables, pairs, { ...call, account: call.payload.account, cents })
        }
        app.post(toPath(name, service), branchHandler(barrier, handler))
      }
      break
    }
    case 'grouped': {
      const barrier = groupedTransfers(pool, tables)
      for (const service of SERVICES) {
        const handler = (_: undefined, { op, payload }: Branch<TransferPart>): Addition => ({
          id: payload.account,
          delta: signedCents(service, op, payload),
        })
        app.post(toPath(name, service), branchHandler(barrier, handler))
      }
      break
    }
  }
}

function toPath(column: string, service: ServiceName): string {
  return `/${column}/${service}`
}

function plain(pool: Pool, tables: BankTables, service: ServiceName, pairs: number) {
  return async (request: FastifyRequest): Promise<object> => {
    const booking = readBooking(service, request)
    await inTransaction(pool, (tx) => book(tx, tables, pairs, booking))
    return { ok: true }
  }
}

function readBooking(service: ServiceName, { query, body }: FastifyRequest): Booking {
  const { gid, branch_id: branchId, op = 'action' } = query as PlainQuery
  const payload = body as TransferPart
  return { account: payload.account, cents: signedCents(service, op, payload), gid, branchId }
}

/** One queue for all accounts. A group locks its rows in the order of their ids. */
function groupedTransfers(pool: Pool, { account, ledger, barrier }: BankTables) {
  return groupedBranch<PoolConnection, Addition>(mysqlGroupBarrier(pool, { table: barrier }), {
    key: () => 'transfer',
    apply: conditionalAdd({
      table: account,
      valueColumn: 'cents',
      log: {
        table: ledger,
        columns: ['account', 'cents', 'gid', 'branch_id'],
        values: ({ call, id, delta }) => [Number(id), delta, call.gid, call.branchId],
      },
    }),
  })
}

function signedCents(service: ServiceName, op: string, { cents }: TransferPart): number {
  const isTaken = (service === 'trans-out') !== (op === 'compensate')
  return isTaken ? -cents : cents
}
