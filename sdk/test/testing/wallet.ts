import { DatabaseSync } from 'node:sqlite'
import { setImmediate as tick } from 'node:timers/promises'
import { OPS, type Op } from '@counterstep/protocol'
import { ALREADY_COMPENSATED, barrierRows, decideBarrier, findOriginOp } from '@counterstep/protocol/barrier'
import type { BranchRuleCode, BranchUnderTest } from '../../src/testing/index.ts'

/** These are the faults of a wallet, in the words of a review. */
export type Fault =
  | 'does nothing'
  | 'lets the business refuse an undo'
  | 'undoes nothing that was done'
  | 'answers 201'
  | 'compares gids without case'
  | 'leaves branch_id out of its key'
  | 'runs duplicates'
  | 'forgets what it did a while ago'
  | 'asks the business before the barrier'
  | 'answers 409 to duplicates'
  | 'answers duplicates anew'
  | 'looks for the row before it inserts it'
  | 'runs the undo of nothing'
  | 'fails at the undo of nothing'
  | 'forgets a null compensation'
  | 'answers 200 to a late action'
  | 'looks for the action before it locks'
  | 'answers 422 to a refusal'
  | 'keeps no refusal'
  | 'answers 200 to a copy of a kept refusal'
  | 'commits part of what it refuses'
  | 'commits its barrier before the effect'
  | 'swallows errors'
  | 'swallows errors and refusals'
  | 'checks its payload, and swallows database errors'
  | 'calls a database error a failure'
  | 'takes no large body'
  | 'takes no text for a payload'
  | 'calls garbage a failure'

/** The rule that a fault breaks, and the only one that may be reported. */
export const CODE_OF: Readonly<Record<Fault, BranchRuleCode>> = {
  'does nothing': 'ACTION_NOT_DONE',
  'undoes nothing that was done': 'COMPENSATION_NOT_DONE',
  'lets the business refuse an undo': 'COMPENSATION_NOT_DONE',
  'answers 201': 'SUCCESS_NOT_200',
  'compares gids without case': 'GIDS_MIXED',
  'leaves branch_id out of its key': 'BRANCHES_MIXED',
  'runs duplicates': 'DUPLICATE_RAN_TWICE',
  'forgets what it did a while ago': 'DUPLICATE_RAN_TWICE',
  'asks the business before the barrier': 'DUPLICATE_REFUSED',
  'answers 409 to duplicates': 'DUPLICATE_REFUSED',
  'answers duplicates anew': 'ANSWER_NOT_REPEATED',
  'looks for the row before it inserts it': 'CONCURRENT_DUPLICATES_RAN_TWICE',
  'runs the undo of nothing': 'COMPENSATION_WITHOUT_ACTION',
  'fails at the undo of nothing': 'COMPENSATION_WITHOUT_ACTION',
  'forgets a null compensation': 'ACTION_RAN_AFTER_COMPENSATION',
  'answers 200 to a late action': 'LATE_ACTION_NOT_REFUSED',
  'looks for the action before it locks': 'ACTION_RACED_COMPENSATION',
  'answers 422 to a refusal': 'FAILURE_NOT_409',
  'keeps no refusal': 'REFUSAL_NOT_KEPT',
  'answers 200 to a copy of a kept refusal': 'REFUSAL_NOT_KEPT',
  'commits part of what it refuses': 'FAILURE_LEFT_EFFECT',
  'commits its barrier before the effect': 'BARRIER_APART_FROM_EFFECT',
  'swallows errors': 'ERROR_SWALLOWED',
  'swallows errors and refusals': 'ERROR_SWALLOWED',
  'checks its payload, and swallows database errors': 'ERROR_SWALLOWED',
  'calls a database error a failure': 'ERROR_ANSWERED_AS_FAILURE',
  'takes no large body': 'PAYLOAD_REFUSED',
  'takes no text for a payload': 'PAYLOAD_REFUSED',
  'calls garbage a failure': 'GARBAGE_ANSWERED',
}

interface Call {
  readonly gid: string
  readonly branchId: string
  readonly op: Op
}
interface Reply {
  readonly status: number
  readonly body: string
}

const START_CENTS = 10_000
const PRICE_CENTS = 100
const FORGOTTEN_AFTER_MS = 1_000
const BODY_BYTES_MAX = 102_400

class Refused extends Error {}

/**
 * This is a hand-written service with one account in SQLite, right but for its one fault. Its business refuses an
 * overdraft.
 */
export class Wallet {
  readonly #database = new DatabaseSync(':memory:')
  readonly #fault: Fault | undefined
  #answers = 0
  #forgetting: NodeJS.Timeout | undefined

  constructor(fault?: Fault) {
    this.#fault = fault
    this.#database.exec(`
      CREATE TABLE account (cents INTEGER NOT NULL) STRICT;
      INSERT INTO account VALUES (${START_CENTS});
      CREATE TABLE barrier (gid TEXT, branch_id TEXT, op TEXT, reason TEXT, answer TEXT,
        PRIMARY KEY (gid, branch_id, op)) STRICT;
      CREATE TABLE ledger (gid TEXT, op TEXT) STRICT`)
  }

  get cents(): number {
    return Number(this.#database.prepare('SELECT cents FROM account').get()?.cents ?? Number.NaN)
  }

  /** Lists the entries of a gid, in order. */
  readLedger(gid: string): { op: string }[] {
    const sql = 'SELECT op FROM ledger WHERE gid = ? ORDER BY rowid'
    return this.#database.prepare(sql).all(gid) as unknown as { op: string }[]
  }

  drain(): void {
    this.#database.exec('UPDATE account SET cents = 0')
  }

  readonly outage = {
    begin: () => this.#database.exec('ALTER TABLE account RENAME TO away'),
    end: () => this.#database.exec('ALTER TABLE away RENAME TO account'),
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const { status, body } = await this.#reply(request)
    return new Response(body, { status: status === 200 && this.#is('answers 201') ? 201 : status })
  }

  #is(fault: Fault): boolean {
    return this.#fault === fault
  }

  async #reply(request: Request): Promise<Reply> {
    const call = readCall(new URL(request.url).searchParams)
    if (call === undefined)
      return { status: this.#is('calls garbage a failure') ? 409 : 400, body: 'no call' }
    if (this.#is('forgets what it did a while ago')) this.#forgetSoon()
    const hasNoUndo = request.headers.get('counterstep-undo') === 'none'
    if (hasNoUndo && this.#is('answers 200 to a copy of a kept refusal') && this.#standing(call).length > 0)
      return { status: 200, body: '' }
    try {
      const body = await request.text()
      if (this.#is('takes no large body') && body.length > BODY_BYTES_MAX) return { status: 413, body: '' }
      if (this.#is('takes no text for a payload') && body.startsWith('"')) return { status: 400, body: '' }
      const { cents } = JSON.parse(body) as { cents: number }
      return await this.#pass(this.#toKey(call), call.op === 'action' ? -cents : cents)
    } catch (error: unknown) {
      if (hasNoUndo && error instanceof Refused && !this.#is('keeps no refusal'))
        this.#transaction(() => this.#insert({ ...this.#toKey(call), op: 'compensate' }))
      return this.#thrown(error)
    }
  }

  #thrown(error: unknown): Reply {
    const isRefusal = error instanceof Refused
    if (this.#is('swallows errors and refusals')) return { status: 200, body: '' }
    if (isRefusal) return { status: this.#is('answers 422 to a refusal') ? 422 : 409, body: 'refused' }
    if (this.#is('swallows errors')) return { status: 200, body: '' }
    const isDatabase = error instanceof Error && 'errcode' in error
    if (isDatabase && this.#is('checks its payload, and swallows database errors')) {
      return { status: 200, body: '' }
    }
    if (isDatabase && this.#is('calls a database error a failure')) return { status: 409, body: 'database' }
    return { status: 500, body: 'error' }
  }

  /** Forgets like a cache: a while after the last call. */
  #forgetSoon(): void {
    clearTimeout(this.#forgetting)
    this.#forgetting = setTimeout(() => this.#database.exec('DELETE FROM barrier'), FORGOTTEN_AFTER_MS)
  }

  #toKey({ gid, branchId, op }: Call): Call {
    return {
      gid: this.#is('compares gids without case') ? gid.toLowerCase() : gid,
      branchId: this.#is('leaves branch_id out of its key') ? '01' : branchId,
      op,
    }
  }

  async #pass(call: Call, cents: number): Promise<Reply> {
    if (this.#is('does nothing')) return { status: 200, body: '' }
    if (this.#is('asks the business before the barrier')) this.#mustBear(cents)
    if (this.#is('commits its barrier before the effect')) {
      const rows = this.#transaction(() => this.#insert(call))
      return this.#transaction(() => this.#decide(call, rows, cents))
    }
    if (this.#is('looks for the row before it inserts it')) return this.#lookThenInsert(call, cents)
    if (this.#is('looks for the action before it locks') && call.op === 'compensate') {
      const found = this.#standing(call).length > 0
      await tick()
      return this.#transaction(() =>
        this.#decide(call, { ...this.#insert(call), originInserted: !found }, cents),
      )
    }
    try {
      return this.#transaction(() => this.#decide(call, this.#insert(call), cents))
    } catch (error: unknown) {
      // It takes a fee for the refusal in a transaction that should have rolled back.
      if (error instanceof Refused && this.#is('commits part of what it refuses')) this.#add(1)
      throw error
    }
  }

  async #lookThenInsert(call: Call, cents: number): Promise<Reply> {
    const own = this.#standing(call).find(({ op }) => op === call.op)
    await tick()
    return this.#transaction(() => {
      const rows = this.#insert(call)
      return this.#decide(call, own === undefined ? { ...rows, ownInserted: true } : rows, cents)
    })
  }

  #decide(call: Call, { ownInserted, originInserted }: Inserted, cents: number): Reply {
    const decision = ownInserted
      ? decideBarrier(call.op, { ownInserted, originInserted })
      : decideBarrier(call.op, { ownInserted, standing: this.#standing(call) })
    switch (decision) {
      case 'run':
        return this.#run(call, cents)
      case 'duplicate':
        if (this.#is('answers 409 to duplicates')) return { status: 409, body: 'done already' }
        if (this.#is('runs duplicates')) return this.#run(call, cents)
        return {
          status: 200,
          body: this.#is('answers duplicates anew') ? this.#receipt() : this.#stored(call),
        }
      case 'already-compensated':
        if (this.#is('answers 200 to a late action')) return { status: 200, body: '' }
        return { status: 409, body: ALREADY_COMPENSATED }
      case 'null-compensation':
        if (this.#is('runs the undo of nothing')) return this.#run(call, cents)
        if (this.#is('fails at the undo of nothing')) throw new Error('nothing to undo')
        if (this.#is('forgets a null compensation')) {
          this.#database.prepare('DELETE FROM barrier WHERE gid = ?').run(call.gid)
        }
        return { status: 200, body: '' }
    }
  }

  #run(call: Call, cents: number): Reply {
    if (!Number.isInteger(cents)) throw new TypeError('cents must be a whole number')
    if (call.op === 'action') this.#mustBear(cents)
    else if (this.#is('lets the business refuse an undo')) this.#mustBeOpen(cents)
    if (call.op === 'action' || !this.#is('undoes nothing that was done')) this.#add(cents)
    this.#database.prepare('INSERT INTO ledger VALUES (?, ?)').run(call.gid, call.op)
    const body = this.#receipt()
    const sql = 'UPDATE barrier SET answer = ? WHERE gid = ? AND branch_id = ? AND op = ?'
    this.#database.prepare(sql).run(body, call.gid, call.branchId, call.op)
    return { status: 200, body }
  }

  #mustBear(cents: number): void {
    if (this.cents + cents < 0) throw new Refused()
  }

  /** Requires the same as for an action, and takes an empty account for closed. */
  #mustBeOpen(cents: number): void {
    if (this.cents === 0) throw new Refused()
    this.#mustBear(cents)
  }

  #add(cents: number): void {
    this.#database.prepare('UPDATE account SET cents = cents + ?').run(cents)
  }

  #receipt(): string {
    return `{"receipt":${++this.#answers}}`
  }

  #transaction<Result>(work: () => Result): Result {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.#database.exec('COMMIT')
      return result
    } catch (error: unknown) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  #insert({ gid, branchId, op }: Call): Inserted {
    const sql = 'INSERT OR IGNORE INTO barrier VALUES (?, ?, ?, ?, NULL)'
    const inserted = barrierRows(op)
      .filter((row) => this.#database.prepare(sql).run(gid, branchId, row.op, row.reason).changes === 1)
      .map((row) => row.op)
    const origin = findOriginOp(op)
    return {
      ownInserted: inserted.includes(op),
      originInserted: origin !== undefined && inserted.includes(origin),
    }
  }

  #standing({ gid, branchId }: Call): { op: Op; reason: Op; answer: string | null }[] {
    const sql = 'SELECT op, reason, answer FROM barrier WHERE gid = ? AND branch_id = ?'
    const rows: unknown[] = this.#database.prepare(sql).all(gid, branchId)
    return rows as { op: Op; reason: Op; answer: string | null }[]
  }

  #stored(call: Call): string {
    return this.#standing(call).find(({ op }) => op === call.op)?.answer ?? ''
  }
}

interface Inserted {
  readonly ownInserted: boolean
  readonly originInserted: boolean
}

function readCall(query: URLSearchParams): Call | undefined {
  const one = (name: string) => (query.getAll(name).length === 1 ? query.get(name) : '') || undefined
  const [gid, branchId, opText] = [one('gid'), one('branch_id'), one('op')]
  const op = OPS.find((each) => each === opText)
  return gid === undefined || branchId === undefined || op === undefined ? undefined : { gid, branchId, op }
}

/** A kit that waits this long finds out that a wallet forgets. */
export const LINGER_MS = 2 * FORGOTTEN_AFTER_MS

/** A wallet with all that a service author can give, but for what takes time. */
export function walletUnderTest(wallet: Wallet): BranchUnderTest {
  return {
    service: { fetch: wallet.fetch },
    action: '/pay',
    compensation: '/refund',
    payload: { cents: PRICE_CENTS },
    refusedPayload: { cents: 100 * START_CENTS },
    isPivot: true,
    read: () => wallet.cents,
    spend: () => undefined,
    drain: () => wallet.drain(),
    outage: wallet.outage,
    attemptsMax: 2,
    settleMs: 200,
  }
}
