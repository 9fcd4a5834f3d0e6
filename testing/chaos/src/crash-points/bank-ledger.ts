import { DatabaseSync } from 'node:sqlite'
import type { TransactionView } from '@counterstep/protocol'

interface Effect {
  readonly seq: number
  readonly branchId: string
  readonly op: string
  readonly deltaCents: number
}

interface Arrival {
  readonly branchId: string
  readonly op: string
  readonly statusCode: number
}

const BUSY_MS_MAX = 5_000

const EFFECTS = `SELECT seq, branch_id AS branchId, op, delta_cents AS deltaCents FROM ledger WHERE gid = ? ORDER BY seq`
const ARRIVALS = `SELECT branch_id AS branchId, op, status_code AS statusCode FROM call_log WHERE gid = ? ORDER BY seq`
/** An action whose barrier row stems from its compensation was blocked, so it must have no effect (I8). */
const HANGING = `SELECT branch_id AS branchId FROM ledger JOIN counterstep_barrier AS barrier USING (gid, branch_id, op)
  WHERE gid = ? AND barrier.reason <> barrier.op`
const WRONG_BALANCES = `SELECT id FROM account WHERE balance_cents < 0 OR balance_cents <> initial_cents
  + (SELECT coalesce(sum(delta_cents), 0) FROM ledger WHERE ledger.account = account.id)`
/** A generation that goes on has done so many steps for good. */
const STEPS_KEPT = 5
const FORWARD = new Set(['action', 'try', 'msg'])

/** Reads the bank's own database: an auditor that asks the suspect proves nothing. */
export class BankLedger {
  readonly #database: DatabaseSync

  constructor(file: string) {
    this.#database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS_MAX })
  }

  /** Lists the faults of a transaction that has ended, each a sentence. */
  findFaults(view: TransactionView): string[] {
    const effects = this.#rows<Effect>(EFFECTS, view.gid)
    const arrivals = this.#rows<Arrival>(ARRIVALS, view.gid)
    const hanging = this.#rows<{ branchId: string }>(HANGING, view.gid)
    const found = [
      ...hanging.map(({ branchId }) => `I8: ${branchId} took effect after its compensation`),
      ...(view.kind === 'workflow'
        ? workflowFaults(view, effects, arrivals)
        : // A branch that waits calls no service.
          view.branches.flatMap(({ id, wait }) =>
            wait === undefined ? branchFaults(view, id, effects) : [],
          )),
      ...returnFaults(view, arrivals),
      ...(view.status === 'failed' ? forgottenBranches(view, arrivals) : []),
      ...moneyFaults(view, effects),
    ]
    return found.map((fault) => `${view.gid} (${view.status}): ${fault}`)
  }

  wasCalled(gid: string): boolean {
    return this.#rows<Arrival>(ARRIVALS, gid).length > 0
  }

  /** Accounts that are not their start and their ledger together (I15). */
  wrongBalances(): string[] {
    return this.#rows<{ id: string }>(WRONG_BALANCES).map(
      ({ id }) => `I15: the balance of ${id} is not its ledger's`,
    )
  }

  /** Calls that arrived again, and compensations of what never was: the audit says little where there are none. */
  duplicates(): number {
    return this.#count(
      'SELECT coalesce(sum(n - 1), 0) AS n FROM (SELECT count(*) AS n FROM call_log GROUP BY gid, branch_id, op)',
    )
  }

  nullCompensations(): number {
    return this.#count('SELECT count(*) AS n FROM counterstep_barrier WHERE reason <> op')
  }

  close(): void {
    this.#database.close()
  }

  #rows<T>(sql: string, ...values: string[]): readonly T[] {
    return this.#database.prepare(sql).all(...values) as unknown as T[]
  }

  #count(sql: string): number {
    return this.#rows<{ n: number }>(sql)[0]?.n ?? 0
  }
}

/** I37, I40: a workflow's branches are the steps of its record, and each has its outcome. */
function workflowFaults(
  view: TransactionView,
  effects: readonly Effect[],
  arrivals: readonly Arrival[],
): string[] {
  const known = new Set(view.branches.map(({ id }) => id))
  const called = new Set([...effects, ...arrivals].map(({ branchId }) => branchId))
  const strangers = [...called].filter((id) => !known.has(id))
  const earlier = (view.workflow?.generation ?? 1) - 1
  return [
    ...(earlier === 0
      ? strangers.map((id) => `I37: ${id} is not in the record`)
      : earlierFaults(strangers, effects, earlier)),
    ...(view.status === 'succeeded' && view.result === undefined ? ['I40: it has no result'] : []),
    ...view.branches.flatMap(({ id, wait, ops }) => {
      if (wait !== undefined) return []
      const action = ops.find(({ op }) => op === 'action')
      // A step that has failed is undone at once, also while its workflow goes on.
      const isDone = view.status === 'succeeded' && action?.state === 'succeeded'
      return branchFaults({ status: isDone ? 'succeeded' : 'failed' }, id, effects)
    }),
  ]
}

/** I40: the record has dropped the earlier generations. Each step of theirs is kept for good, or has failed and is undone. */
function earlierFaults(ids: readonly string[], effects: readonly Effect[], generations: number): string[] {
  const kept = ids.filter((id) => {
    const ops = effects.flatMap(({ branchId, op }) => (branchId === id ? [op] : []))
    return ops.length > 0 && ops.every((op) => FORWARD.has(op))
  })
  const right = STEPS_KEPT * generations
  return [
    ...(kept.length === right ? [] : [`I40: ${kept.length} earlier steps are kept, and not ${right}`]),
    ...ids.flatMap((id) => branchFaults({ status: kept.includes(id) ? 'succeeded' : 'failed' }, id, effects)),
  ]
}

/** I5, I6, I7, I9. */
function branchFaults(
  { status }: Pick<TransactionView, 'status'>,
  id: string,
  effects: readonly Effect[],
): string[] {
  const own = effects.filter(({ branchId }) => branchId === id)
  const done = own.filter(({ op }) => FORWARD.has(op))
  const undone = own.filter(({ op }) => !FORWARD.has(op))
  const found: string[] = []
  if (done.length > 1 || undone.length > 1) found.push(`I7: ${id} took effect more than once`)
  if (status === 'succeeded' && done.length !== 1) found.push(`I5: ${id} took effect ${done.length} times`)
  if (status === 'succeeded' && undone.length !== 0) found.push(`I5: ${id} was undone`)
  if (status === 'failed' && done.length !== undone.length) {
    found.push(`I6: ${id} was done ${done.length} times and undone ${undone.length} times`)
  }
  if ((undone[0]?.seq ?? Number.POSITIVE_INFINITY) < (done[0]?.seq ?? 0)) {
    found.push(`I9: ${id} was undone before it was done`)
  }
  return found
}

/** I35: once a branch without return was called, nothing but the pivot's own failure turns the saga around. */
function returnFaults({ status, abort, branches }: TransactionView, arrivals: readonly Arrival[]): string[] {
  const beyond = new Set(branches.flatMap(({ id, role }) => (role === undefined ? [] : [id])))
  const called = arrivals.find(({ branchId }) => beyond.has(branchId))
  if (called === undefined || status !== 'failed') return []
  const isByPivot = abort?.cause === 'branch-failed' && beyond.has(abort.branchId ?? '')
  return isByPivot ? [] : [`I35: ${called.branchId} was called, and it was aborted by ${abort?.cause}`]
}

/** I10: every branch that was called forward, with or without effect, was called back. */
function forgottenBranches({ branches }: TransactionView, arrivals: readonly Arrival[]): string[] {
  // A pivot has no compensation.
  const undoable = new Set(branches.flatMap(({ id, role }) => (role === undefined ? [id] : [])))
  const called = new Set(
    arrivals.flatMap(({ branchId, op }) => (FORWARD.has(op) && undoable.has(branchId) ? [branchId] : [])),
  )
  const undone = arrivals.filter(({ op, statusCode }) => !FORWARD.has(op) && statusCode === 200)
  for (const { branchId } of undone) called.delete(branchId)
  return [...called].map((branchId) => `I10: ${branchId} was called, and its compensation never was`)
}

function moneyFaults({ kind }: TransactionView, effects: readonly Effect[]): string[] {
  const sumCents = effects.reduce((sum, { deltaCents }) => sum + deltaCents, 0)
  // A message brings the money in: its sender's own debit is none of the bank's.
  return kind === 'message' || sumCents === 0 ? [] : [`I15: ${sumCents} cents appeared`]
}
