import { setTimeout as delay } from 'node:timers/promises'
import { type Connection, createConnection, type Pool, type RowDataPacket } from 'mysql2/promise'
import type { DtmApi } from '../dtm-api.ts'
import type { OrderedDeath } from './ordered-death.ts'
import type { PlantedFault } from './planted-fault.ts'
import { applyEffect, insertBarrier } from './tables.ts'

const POLL_MS = 10
/** A slow branch waits so long for its own rollback at most. */
const SLOW_MS_MAX = 10_000
/** Lets the rollback that has come get to the database first. */
const ROLLBACK_MS = 100

export interface XaServiceDeps {
  readonly database: string
  readonly pool: Pool
  readonly api: DtmApi
  readonly death: OrderedDeath
  readonly fault: PlantedFault
}

export interface XaCall {
  readonly gid: string
  readonly branch: string
  readonly phase2Url: string
}

export interface XaWork {
  readonly account: number
  readonly amount: number
  readonly isRefused: boolean
  /** It is not prepared before it is told to roll back. */
  readonly isSlow: boolean
}

/** The business of the branch says no. */
export class RefusedError extends Error {}

/** Does and ends branches of XA, with the statements and in the order of DTM's Go client. */
export class XaService {
  readonly #deps: XaServiceDeps
  readonly #decided = new Set<string>()

  constructor(deps: XaServiceDeps) {
    this.#deps = deps
  }

  /** Returns when the branch is prepared in the database. Throws if it is not. */
  async prepare(call: XaCall, work: XaWork): Promise<void> {
    const { database, death } = this.#deps
    const xid = toXid(call)
    const connection = await createConnection(database)
    try {
      await connection.query(`XA START '${xid}'`)
      let isDone = false
      try {
        await this.#work(connection, call, work)
        isDone = true
      } finally {
        await connection.query(`XA END '${xid}'`)
        if (!isDone) await connection.query(`XA ROLLBACK '${xid}'`)
      }
      await connection.query(`XA PREPARE '${xid}'`)
      death.reach('xa-prepared')
    } finally {
      // If this process dies before, the database rolls back what is not prepared.
      await connection.end()
    }
  }

  async #work(connection: Connection, call: XaCall, work: XaWork): Promise<void> {
    const { api, death, fault } = this.#deps
    const { gid, branch, phase2Url } = call
    const row = { gid, branch, op: 'action', reason: 'action' }
    if (fault !== 'no-barrier' && !(await insertBarrier(connection, row)))
      throw new RefusedError('the branch was there before, or was rolled back before it came')
    death.reach('xa-started')
    if (work.isRefused) throw new RefusedError('the account says no')
    await applyEffect(connection, { ...call, op: 'action', account: work.account, amount: work.amount })
    const registration = { gid, branch_id: branch, trans_type: 'xa', url: phase2Url }
    const { statusCode, text } = await api.ask('registerBranch', registration)
    if (statusCode === 409) throw new RefusedError(text)
    if (statusCode !== 200) throw new Error(`registerBranch is answered with ${statusCode}: ${text}`)
    death.reach('xa-registered')
    if (work.isSlow) await this.#untilDecided(toXid(call))
  }

  /** Ends a prepared branch. A database that does not know it has ended it before. */
  async decide(call: XaCall, op: 'commit' | 'rollback'): Promise<void> {
    const { pool, death, fault } = this.#deps
    const xid = toXid(call)
    this.#decided.add(xid)
    if (op === 'rollback' && fault === 'no-rollback') return
    try {
      await pool.query(op === 'commit' ? `XA COMMIT '${xid}'` : `XA ROLLBACK '${xid}'`)
    } catch (error: unknown) {
      if (!isUnknownXid(error)) throw error
      // MariaDB says so, too, as long as the connection that has prepared it is not quite closed.
      if ((await listPrepared(pool)).includes(xid)) throw error
    }
    death.reach('xa-decided')
    const row = { gid: call.gid, branch: call.branch, op: 'action', reason: 'rollback' }
    // While the action is under way this waits for it, and fails: the server has to ask again.
    if (op === 'rollback' && fault !== 'no-barrier') await insertBarrier(pool, row)
  }

  async #untilDecided(xid: string): Promise<void> {
    const endAt = performance.now() + SLOW_MS_MAX
    while (!this.#decided.has(xid) && performance.now() < endAt) await delay(POLL_MS)
    await delay(ROLLBACK_MS)
  }
}

/** Lists what XA RECOVER shows. */
export async function listPrepared(connection: Pick<Connection, 'query'>): Promise<readonly string[]> {
  const [rows] = await connection.query<RowDataPacket[]>('XA RECOVER')
  return rows.map(({ data }) => String(data))
}

function toXid({ gid, branch }: XaCall): string {
  return `${gid}-${branch}`
}

function isUnknownXid(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ER_XAER_NOTA'
}
