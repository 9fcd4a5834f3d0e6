/**
 * Merges what operators commanded into the merged transaction. The row's entries are durable and stay. Ours that the row
 * lacks are not durable, so no caller was told of them; they stay if their effect does, and else the command is given again
 * and judged by what came first. If the process dies before the merged state is saved, the row has its own entries, and each
 * caller of ours gets no answer or gives the command again.
 */
import { findNewEntries, uniteTrails } from '../record/trail.ts'
import { makeDue, withOp } from '../rules/op-progress.ts'
import { findNamedOp } from '../rules/operator-ops.ts'
import { withoutPause } from '../rules/pause.ts'
import { askForHands } from '../rules/skip-op.ts'
import { isFinal, type OpProgress, type StoredEntry, type Transaction } from '../transaction.ts'

/**
 * Takes back our skips of actions before the merge, if the row says that the saga is aborting: the abort came first, and
 * after it no action is skipped. A pivot that is declared done would else forbid what the abort has to undo.
 */
export function takeBackSkips<T extends Transaction>(ours: T, stored: Transaction): T {
  if (ours.trail === undefined || stored.status !== 'aborting' || ours.kind !== 'saga') return ours
  const isLate = ({ command, op }: StoredEntry) => command === 'skip' && op?.op === 'action'
  const late = findNewEntries(ours.trail, stored.trail).filter(isLate)
  if (late.length === 0) return ours
  const ids = new Set(late.map(({ op }) => op?.branchId))
  const branches = ours.branches.map((progress, branch) =>
    ids.has(ours.definition.branches[branch]?.id)
      ? { ...progress, action: withoutHands(progress.action) }
      : progress,
  )
  return { ...ours, branches, trail: ours.trail.filter((entry) => !late.includes(entry)) }
}

function withoutHands({ byHand: _, values: __, ...rest }: OpProgress): OpProgress {
  return { ...rest, state: 'idle' }
}

/** `merged` has the status and the results already. */
export function mergeCommands(merged: Transaction, ours: Transaction, stored: Transaction): Transaction {
  if (ours.trail === undefined && stored.trail === undefined) return merged
  const own = findNewEntries(ours.trail, stored.trail)
  const kept = own.filter((entry) => hasEffect(merged, entry))
  const trail = uniteTrails(stored.trail, kept)
  const { paused: _, edits: __, trail: ___, ...rest } = merged
  const pausing = kept.some(({ command }) => command === 'pause' || command === 'resume') ? ours : stored
  const next = {
    ...rest,
    ...(trail.length === 0 ? {} : { trail }),
    ...(pausing.paused === undefined ? {} : { paused: pausing.paused }),
    ...mergeEdits(ours, stored),
  } as Transaction
  if (isFinal(next)) return withoutPause(next)
  return askForHands(hurryOps(next, findNewEntries(stored.trail, ours.trail)))
}

/** An edit is only given where the row rests, or on the node that runs it. So what the row lacks is ours. */
function mergeEdits(ours: Transaction, stored: Transaction): Pick<Transaction, 'edits'> {
  const { edits = stored.edits } = ours
  return edits === undefined ? {} : { edits }
}

/** A decision of ours may have come second. Then its command is not done, and is judged again. */
function hasEffect(merged: Transaction, entry: StoredEntry): boolean {
  const { status } = merged
  switch (entry.command) {
    case 'abort':
      return status === 'aborting' || status === 'failed' || status === 'stopped'
    case 'submit':
      return status === 'submitted' || status === 'succeeded' || status === 'stopped'
    case 'stop':
      return status === 'stopped'
    case 'skip':
      return entry.op !== undefined && findNamedOp(merged, entry.op)?.progress.byHand !== undefined
    default:
      return true
  }
}

/** Another node was asked to retry single ops. A full retry is counted, and merged by that count. */
function hurryOps(merged: Transaction, foreign: readonly StoredEntry[]): Transaction {
  let next = merged
  for (const { command, op } of foreign) {
    if (command !== 'retry-op' || op === undefined) continue
    const found = findNamedOp(next, op)
    if (found !== undefined) next = withOp(next, found.call, makeDue(found.progress))
  }
  return next
}
