/** Gives the commands of clients and operators, on the node where they arrive. */
import {
  AssertionError,
  type Clock,
  type Command,
  describeUnreadable,
  type Ids,
  isFinal,
  isGiven,
  planCommand,
  RULES,
  type Store,
  type StoredTransaction,
  type TraceContext,
  type Transaction,
  viewTransaction,
} from '@counterstep/core'
import { CounterstepError, type Gid, isCounterstepError, type TransactionView } from '@counterstep/protocol'
import type { Acceptance } from './acceptance.ts'
import type { LargeTurns, NeedsTurn, RowTurn } from './large-turns.ts'
import { chooseNewestView } from './newest-view.ts'
import type { EngineObserver } from './observer.ts'
import { tellCommand } from './operator/tell-command.ts'
import { toLane } from './read-limiter.ts'
import { readName } from './read-name.ts'
import { toCommandError } from './refused-command.ts'
import type { Runner } from './runner.ts'
import { toUnknownGidError } from './transaction-error.ts'
import { Turns } from './turns.ts'
import { untilDefinite, within } from './until-definite.ts'
import { viewRow } from './view-row.ts'

const TRIES_MAX = 20
/** A command for an op that is busy waits this long before it is refused. */
const BUSY_WAIT_MS = 5_000
const BUSY_LOOK_MS_MIN = 50
const BUSY_LOOK_MS_MAX = 1_000

export interface CommandsParts {
  readonly store: Store
  readonly runner: Runner
  readonly acceptance: Acceptance
  readonly largeTurns: LargeTurns
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  readonly retentionMs: number | 'never'
  readonly readEpochMs: () => number
  readonly storeTimeoutMs: number
  /** A command has made a waiting row due. */
  readonly onDue: (gid: Gid) => void
}

interface Giving {
  readonly turn: RowTurn
  /** The caller has been answered. */
  isOver: boolean
  endTurn: () => void
}

export class Commands {
  readonly #parts: CommandsParts
  /**
   * Commands on the stored row take turns by gid. Without turns, of several
   * at once all but one would fail and be tried again.
   */
  readonly #turns = new Turns()

  constructor(parts: CommandsParts) {
    this.#parts = parts
  }

  /**
   * Gives a command, and answers when it is durable. A command for one op may find its call under way, or another node
   * that runs the transaction. Then it is tried again for a while, since such a call ends soon and the row may come to rest.
   * A caller takes turns with others where the row is large. The caller's own commands take turns by their type, so that no flood
   * of branches keeps out an abort, and operators need none.
   */
  async give(gid: Gid, command: Command, caller?: string): Promise<TransactionView> {
    const lane = caller === undefined || isGiven(command) ? undefined : toLane(caller, command.type)
    const { clock } = this.#parts
    const until = clock.now() + BUSY_WAIT_MS
    for (let waitMs = BUSY_LOOK_MS_MIN; ; waitMs = Math.min(BUSY_LOOK_MS_MAX, waitMs * 2)) {
      try {
        return await this.#parts.largeTurns.run(gid, lane, (turn) => this.#giveOnce(gid, command, turn))
      } catch (error: unknown) {
        const isBusy = isCounterstepError(error) && error.code === 'SAGA_OP_BUSY'
        if (!isBusy || clock.now() + waitMs > until) throw error
      }
      await new Promise<void>((resolve) => clock.after(waitMs, resolve))
    }
  }

  async #giveOnce(gid: Gid, command: Command, turn: RowTurn): Promise<TransactionView | NeedsTurn> {
    const giving: Giving = { turn, isOver: false, endTurn: () => undefined }
    const done = await within(this.#parts.clock, this.#parts.storeTimeoutMs, this.#give(gid, command, giving))
    giving.isOver = true
    // The call to the store may hang for longer, and the next command must not wait for that.
    giving.endTurn()
    if (done !== undefined) return done
    throw new CounterstepError(
      'SAGA_STORE_UNAVAILABLE',
      `it is not known whether the command was stored: give it again`,
    )
  }

  /**
   * Gives the command until it is decided. The first durable write wins; a
   * command that lost starts again from the new state.
   */
  async #give(gid: Gid, command: Command, giving: Giving): Promise<TransactionView | NeedsTurn | undefined> {
    for (let tries = 0; tries < TRIES_MAX && !giving.isOver; tries++) {
      await this.#parts.acceptance.waitUntilSettled(gid)
      if (giving.turn.note(this.#parts.runner.countPlaces(gid)) === 'needs-turn') return 'needs-turn'
      const outcome = await this.#parts.runner.command(gid, command)
      if (outcome.type === 'durable') {
        this.#tell(gid, outcome.trace, command)
        return outcome.view
      }
      if (outcome.type === 'refused') throw toCommandError(gid, command, outcome)
      if (outcome.type === 'again') continue
      giving.endTurn = await this.#turns.take(gid)
      try {
        const view = await this.#giveByRow(gid, command, giving)
        if (view !== undefined) return view
      } finally {
        giving.endTurn()
      }
    }
    if (giving.isOver) return undefined
    throw new CounterstepError('SAGA_CONTENDED', 'others change this transaction all the time: try again')
  }

  /** Gives the command on the stored row. Returns undefined if it must be tried again. */
  async #giveByRow(
    gid: Gid,
    command: Command,
    giving: Giving,
  ): Promise<TransactionView | NeedsTurn | undefined> {
    const { store, clock, ids, retentionMs, onDue } = this.#parts
    const isOver = () => giving.isOver
    const read = await untilDefinite(clock, async () => ({ row: await giving.turn.read() }), isOver)
    if (read === undefined) return undefined
    const { row } = read
    if (row === undefined) throw toUnknownGidError(gid)
    if (row === 'needs-turn') return row
    const plan = this.#plan(row, command, retentionMs)
    if (plan.type === 'refused' || plan.type === 'nothing') {
      // The row decides, and its caller is told so only when it cannot be lost any more.
      const settled = await untilDefinite(clock, async () => ({ done: await store.settle?.() }), isOver)
      if (settled === undefined) return undefined
      if (plan.type === 'nothing') return chooseNewestView(this.#parts, row)
      throw toCommandError(gid, command, { ...plan, status: row.status })
    }
    const write = { ...plan.update, writeId: ids.writeId() }
    const result = await untilDefinite(clock, () => store.update(write), isOver)
    if (result?.type !== 'saved') return undefined
    this.#tell(gid, plan.type === 'raw' ? undefined : plan.transaction.definition.trace, command)
    if (!row.owned && isDueNow(plan.update)) onDue(gid)
    if (plan.type === 'raw') return viewRow({ ...row, attention: false })
    if (!row.owned) this.#countEnd(plan.transaction)
    return viewTransaction(plan.transaction, plan.transaction.status)
  }

  /** Counts the end of a transaction that a command has ended at rest. A node that runs it counts its end itself. */
  #countEnd(transaction: Transaction): void {
    if (!isFinal(transaction)) return
    const { kind, status, finishedAt, createdAt, definition } = transaction
    this.#parts.observer.finished(kind, status, finishedAt - createdAt, readName(definition))
  }

  #tell(gid: Gid, trace: TraceContext | undefined, command: Command): void {
    if (isGiven(command)) tellCommand(this.#parts.observer, gid, trace, command)
  }

  #plan(
    row: StoredTransaction,
    command: Command,
    retentionMs: number | 'never',
  ): ReturnType<typeof planCommand> | RawRetry {
    try {
      // The store's clock is never before the row's last change.
      const storeNow = Math.max(row.updatedAt, this.#parts.readEpochMs())
      return planCommand(RULES, row, command, { retentionMs, storeNow })
    } catch (error: unknown) {
      if (!(error instanceof AssertionError)) throw error
      if (command.type === 'retry-asked') return rawRetry(row)
      throw new CounterstepError('SAGA_INTERNAL', 'the record of this transaction cannot be read', {
        cause: error,
      })
    }
  }
}

/** A retry of a row whose record this code cannot read. It makes the row due again, unchanged. */
interface RawRetry {
  readonly type: 'raw'
  readonly update: Extract<ReturnType<typeof planCommand>, { type: 'update' }>['update']
}

/** The trouble of the row stays, until an owner can say more of it. */
function rawRetry(row: StoredTransaction): RawRetry {
  const { gid, token, version, status, format, progress, retrying } = row
  const hold = { type: 'command' } as const
  return {
    type: 'raw',
    update: {
      gid,
      token,
      version,
      status,
      format,
      progress,
      retrying,
      attention: false,
      ...describeUnreadable(row),
      hold,
    },
  }
}

function isDueNow({ hold }: RawRetry['update']): boolean {
  return hold.type === 'command' && hold.dueAt === undefined
}
