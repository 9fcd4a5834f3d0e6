import type { Barrier, BarrierCall, Branch } from '@counterstep/sdk'
import { branchHandler } from '@counterstep/sdk/fastify'
import type { BankDatabase } from './bank-database.ts'
import type { Answer, Entry, Hold } from './bank-work.ts'
import { readTransferPayload, type TransferPayload } from './transfer-payload.ts'

/** A bank on a server of SQL, in the words of its driver. */
export interface SqlBank<Tx> {
  readonly barrier: Barrier<Tx>
  readHold(tx: Tx, id: string): Promise<Hold | undefined>
  writeEntry(tx: Tx, call: BarrierCall, entry: Entry): Promise<void>
  close(): Promise<void>
}

export function createSqlBank<Tx>({ barrier, readHold, writeEntry, close }: SqlBank<Tx>): BankDatabase {
  return {
    route: (before, { findHoldId, toEntry }) =>
      branchHandler(
        barrier,
        async (tx, branch: Branch<TransferPayload, Answer>) => {
          before(branch)
          const holdId = findHoldId(branch)
          const hold = holdId === undefined ? undefined : await readHold(tx, holdId)
          if (holdId !== undefined && hold === undefined) throw new Error(`there is no hold ${holdId}`)
          const entry = toEntry(branch, hold)
          await writeEntry(tx, branch, entry)
          return entry.answer
        },
        { parse: readTransferPayload },
      ),
    stepBarrier: {
      run: (call, effect) =>
        barrier.run(call, (tx, original) => {
          const write = async (entry: Entry) => {
            await writeEntry(tx, call, entry)
            return entry.answer
          }
          return effect({ write }, original)
        }),
    },
    close,
  }
}

/** A connection that a pool lends. */
interface LentConnection {
  query(sql: string): Promise<unknown>
  release(): void
}

/** A barrier that runs every call in a database transaction, also one that it has run before. */
export function withoutBarrier<Tx extends LentConnection>(lend: () => Promise<Tx>): Barrier<Tx> {
  return {
    async run(_call, effect) {
      const connection = await lend()
      try {
        await connection.query('BEGIN')
        await effect(connection)
        await connection.query('COMMIT')
        return { decision: 'run' }
      } catch (error: unknown) {
        await connection.query('ROLLBACK')
        throw error
      } finally {
        connection.release()
      }
    },
  }
}
