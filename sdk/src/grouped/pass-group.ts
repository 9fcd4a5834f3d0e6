import type { Op } from '@counterstep/protocol'
import { barrierRows } from '@counterstep/protocol/barrier'
import { decideCall, findOriginal, mustRemoveOwn, needsStanding } from '../barrier/decide-call.ts'
import { AnsweredCalls } from './answered-calls.ts'
import { applyRound, type GroupWork, removeFailed } from './apply-round.ts'
import type { GroupPass, GroupVerdict } from './group-barrier.ts'
import type { GroupRow, GroupTable, KeptAnswer } from './group-table.ts'
import { passPlanned } from './pass-planned.ts'
import { compareBranches, type Member, toRounds } from './rounds.ts'
import { hasOutcome, toSettledVerdict } from './settled-verdict.ts'
import { type Steps, wait } from './steps.ts'

/** Rolls back a transaction that would commit nothing, which saves the flush. */
export class NothingToCommit extends Error {
  readonly verdicts: readonly GroupVerdict[]

  constructor(verdicts: readonly GroupVerdict[]) {
    super('every call of the group was refused')
    this.name = 'NothingToCommit'
    this.verdicts = verdicts
  }
}

/** Returns the verdicts of a group, also of one that was rolled back because it had nothing to commit. */
export async function readVerdicts(
  transaction: Promise<readonly GroupVerdict[]>,
): Promise<readonly GroupVerdict[]> {
  try {
    return await transaction
  } catch (error: unknown) {
    if (error instanceof NothingToCommit) return error.verdicts
    throw error
  }
}

/**
 * Passes several calls in one transaction. Calls of one branch come one after the other, in rounds: the second call
 * finds the rows and effects of the first, as if they had been committed in between. A call that only repeats the one
 * before it gets the same answer, without asking the database. Any error that is thrown has to roll back the whole
 * transaction.
 */
export function* passGroup(
  table: GroupTable,
  passes: readonly GroupPass[],
  work: GroupWork,
): Steps<readonly GroupVerdict[]> {
  const verdicts: GroupVerdict[] = []
  const rounds = toRounds(passes)
  const answered = new AnsweredCalls()
  let rowsKept = 0
  for (const members of rounds) {
    const round = members.filter((member) => {
      const verdict = answered.findRepeated(member.admitted)
      if (verdict !== undefined) verdicts[member.place] = verdict
      return verdict === undefined
    })
    if (round.length === 0) continue
    const isFirst = members === rounds[0]
    const isOneOfSeveral = rounds.length > 1
    const planned = isFirst ? yield* passPlanned(table, round, work, verdicts, isOneOfSeveral) : undefined
    rowsKept += planned ?? (yield* passRound(table, round, work, verdicts, isOneOfSeveral))
    for (const { admitted, place } of round) answered.record(admitted, verdicts[place])
  }
  if (!hasOutcome(verdicts)) throw new NothingToCommit(verdicts)
  if (rowsKept === 0) yield* wait(table.flushStanding?.())
  return verdicts
}

/**
 * Passes a round with its rows inserted first and the answers stored after the effects. Returns how many rows are
 * new.
 */
function* passRound(
  table: GroupTable,
  round: readonly Member[],
  work: GroupWork,
  verdicts: GroupVerdict[],
  isOneOfSeveral: boolean,
): Steps<number> {
  const findings = yield* decideRound(table, round, verdicts)
  const { kept, failed: unserved } = yield* applyRound(findings.running, work, verdicts)
  const failed = [...findings.removed, ...unserved]
  const answered = [...findings.refused, ...kept]
  if (answered.length > 0) yield* wait(table.keepAnswers(answered))
  yield* removeFailed(table, failed, verdicts, isOneOfSeveral)
  return findings.rows - failed.length
}

interface Findings {
  /** The number of new rows. */
  readonly rows: number
  readonly running: readonly Member[]
  /** Members with new rows that must not stay, once for each such row. */
  readonly removed: readonly Member[]
  /** The refusals that undos without anything to undo keep. */
  readonly refused: readonly KeptAnswer[]
}

/** Inserts the rows and decides for each call, as for a single call, but with one statement for all. */
function* decideRound(
  table: GroupTable,
  round: readonly Member[],
  verdicts: GroupVerdict[],
): Steps<Findings> {
  const inserted = yield* wait(table.insert(toRows(round)))
  const insertedOps = groupOpsByBranch(inserted)
  const findOps = (member: Member) => insertedOps.get(member.admitted.branch) ?? NONE
  const repeated = round.filter((member) => needsStanding(member.admitted.op, findOps(member)))
  const standing =
    repeated.length === 0
      ? undefined
      : yield* wait(table.readStanding(repeated.map(({ admitted }) => admitted)))
  const running: Member[] = []
  const removed: Member[] = []
  const refused: KeptAnswer[] = []
  for (const member of round) {
    const { op, branch, since, call } = member.admitted
    const rows = standing?.get(branch) ?? []
    const decision = decideCall(op, findOps(member), rows, since)
    const verdict = toSettledVerdict(op, decision, rows, call.mustUndo)
    if (verdict === undefined) {
      running.push({ ...member, original: findOriginal(op, rows) })
      continue
    }
    verdicts[member.place] = verdict
    if (decision === 'null-compensation' && call.refusal !== undefined)
      refused.push({ admitted: member.admitted, answer: call.refusal })
    const refusedOps = 'error' in verdict ? [...findOps(member)] : []
    const removedOps = mustRemoveOwn(op, decision, findOps(member)) ? [op] : refusedOps
    for (const each of removedOps) removed.push({ ...member, admitted: { ...member.admitted, op: each } })
  }
  return { rows: inserted.size, running, removed, refused }
}

const NONE: ReadonlySet<Op> = new Set()

/** Lists the rows of all members in one order for all transactions; the row of a call's origin comes first. */
function toRows(round: readonly Member[]): readonly GroupRow[] {
  return [...round]
    .sort(compareBranches)
    .flatMap(({ admitted }) => barrierRows(admitted.op).map(({ op, reason }) => ({ admitted, op, reason })))
}

function groupOpsByBranch(rows: Iterable<GroupRow>): ReadonlyMap<string, Set<Op>> {
  const ops = new Map<string, Set<Op>>()
  for (const { admitted, op } of rows) {
    const known = ops.get(admitted.branch)
    if (known === undefined) ops.set(admitted.branch, new Set([op]))
    else known.add(op)
  }
  return ops
}
