import { barrierRows } from '@counterstep/barrier'
import type { Op } from '@counterstep/protocol'
import type { Deadline } from '../barrier/deadline.ts'
import { decideCall, heldBack, needsStanding, outcomeOf } from '../barrier/decide-call.ts'
import { answerText } from '../barrier/stored-answer.ts'
import { checkedResults } from './checked-results.ts'
import { entriesOf } from './entries-of.ts'
import type { GroupCall, GroupPass, GroupVerdict } from './group-barrier.ts'
import { GroupRolledBack } from './group-rolled-back.ts'
import type { GroupRow, GroupTable, KeptAnswer } from './group-table.ts'
import { type Steps, type Waited, waited } from './steps.ts'
import { isTakenOut } from './take-out.ts'
import { ToldCalls } from './told-calls.ts'

/** A call with its place in the group. */
interface Member extends GroupPass {
  readonly place: number
}

/** Thrown so that a transaction is rolled back which would commit nothing: it spares the flush. */
export class NothingToCommit extends Error {
  readonly verdicts: readonly GroupVerdict[]

  constructor(verdicts: readonly GroupVerdict[]) {
    super('every call of the group was refused or held back, and no row is new')
    this.name = 'NothingToCommit'
    this.verdicts = verdicts
  }
}

/** The business's part of a group. */
export interface GroupWork {
  readonly apply: (calls: readonly GroupCall<unknown>[]) => Waited<readonly unknown[]>
  /** Of the whole group; none where nothing may be waited for. */
  readonly deadline?: Deadline
}

/**
 * Several calls in one transaction. Calls of one branch come one after the other, in waves: what the first of them
 * left behind, the second finds, as if it had been committed in between. One that only repeats the call before it is
 * told the same, and asks nothing of the database. Everything thrown has to roll all of it back.
 */
export function* passGroup(
  table: GroupTable,
  passes: readonly GroupPass[],
  work: GroupWork,
): Steps<readonly GroupVerdict[]> {
  const verdicts: GroupVerdict[] = []
  const waves = wavesOf(passes)
  const told = new ToldCalls()
  let rowsKept = 0
  for (const members of waves) {
    const wave = members.filter((member) => {
      const verdict = told.repeated(member.admitted)
      if (verdict !== undefined) verdicts[member.place] = verdict
      return verdict === undefined
    })
    if (wave.length === 0) continue
    const findings = yield* decideWave(table, wave, verdicts)
    const { kept, failed: unserved } = yield* runWave(findings.running, work, verdicts)
    const failed = [...findings.refused, ...unserved]
    if (kept.length > 0) yield* waited(table.keepAnswers(kept))
    const rowsOfWave = findings.rows - failed.length
    if (failed.length > 0 && (rowsOfWave > 0 || waves.length > 1)) {
      yield* waited(table.remove(failed.map(({ admitted }) => admitted)))
    }
    rowsKept += rowsOfWave
    for (const { admitted, place } of wave) told.tell(admitted, verdicts[place])
  }
  if (rowsKept === 0) throw new NothingToCommit(verdicts)
  return verdicts
}

/** Each wave has at most one call of a branch; in their order of arrival. */
function wavesOf(passes: readonly GroupPass[]): readonly (readonly Member[])[] {
  const waves: Member[][] = []
  const calls = new Map<string, number>()
  for (const [place, pass] of passes.entries()) {
    const earlier = calls.get(pass.admitted.branch) ?? 0
    calls.set(pass.admitted.branch, earlier + 1)
    const wave = waves[earlier] ?? []
    waves[earlier] = wave
    wave.push({ ...pass, place })
  }
  return waves
}

interface Findings {
  /** How many are new. */
  readonly rows: number
  readonly running: readonly Member[]
  /** Whose own row is new, and must not stay. */
  readonly refused: readonly Member[]
}

/** The barrier's own part: as for a single call, but one statement does it for all. */
function* decideWave(table: GroupTable, wave: readonly Member[], verdicts: GroupVerdict[]): Steps<Findings> {
  const inserted = yield* waited(table.insert(rowsOf(wave)))
  const insertedOps = opsByBranch(inserted)
  const opsOf = (member: Member) => insertedOps.get(member.admitted.branch) ?? NONE
  const repeated = wave.filter((member) => needsStanding(member.admitted.op, opsOf(member)))
  const standing =
    repeated.length === 0
      ? undefined
      : yield* waited(table.standing(repeated.map(({ admitted }) => admitted)))
  const running: Member[] = []
  const refused: Member[] = []
  for (const member of wave) {
    const { op, branch } = member.admitted
    const rows = standing?.get(branch) ?? []
    try {
      const outcome = heldBack(op, decideCall(op, opsOf(member), rows), rows)
      if (outcome === undefined) running.push(member)
      else verdicts[member.place] = { outcome }
    } catch (error: unknown) {
      // Of this branch's own rows: the others have no part in it.
      verdicts[member.place] = { error }
      if (opsOf(member).has(op)) refused.push(member)
    }
  }
  return { rows: inserted.size, running, refused }
}

const NONE: ReadonlySet<Op> = new Set()

/** One order for all transactions, so that two groups do not wait for each other: by branch, the origin's row first. */
function rowsOf(wave: readonly Member[]): readonly GroupRow[] {
  const sorted = [...wave].sort((one, other) => (one.admitted.branch < other.admitted.branch ? -1 : 1))
  return sorted.flatMap(({ admitted }) =>
    barrierRows(admitted.op).map(({ op, reason }) => ({ admitted, op, reason })),
  )
}

function opsByBranch(rows: Iterable<GroupRow>): ReadonlyMap<string, Set<Op>> {
  const ops = new Map<string, Set<Op>>()
  for (const { admitted, op } of rows) {
    const known = ops.get(admitted.branch)
    if (known === undefined) ops.set(admitted.branch, new Set([op]))
    else known.add(op)
  }
  return ops
}

/** The business's part. Of a call that failed, only its own row was inserted: with the origin's it would not run. */
function* runWave(
  running: readonly Member[],
  { apply, deadline }: GroupWork,
  verdicts: GroupVerdict[],
): Steps<{ readonly kept: readonly KeptAnswer[]; readonly failed: readonly Member[] }> {
  const failed: Member[] = []
  const fail = (member: Member, error: unknown): void => {
    verdicts[member.place] = { error }
    failed.push(member)
  }
  const ready: ReadyMember[] = []
  for (const made of yield* entriesOf(running, deadline)) {
    if ('error' in made) fail(made.member, made.error)
    else ready.push(made)
  }
  const kept: KeptAnswer[] = []
  const blamed = new Map<number, unknown>()
  const results = yield* applied(apply, ready)
  for (const [at, { member }] of ready.entries()) {
    const { place, admitted } = member
    const result = results[at]
    if (result instanceof Error) {
      fail(member, result)
      continue
    }
    try {
      if (isTakenOut(result)) throw result.error
      const answer = answerText(result)
      kept.push({ admitted, answer })
      verdicts[place] = { outcome: outcomeOf('run', answer) }
    } catch (error: unknown) {
      blamed.set(place, error)
    }
  }
  if (blamed.size > 0) throw new GroupRolledBack(undefined, { blamed })
  return { kept, failed }
}

interface ReadyMember {
  readonly member: Member
  readonly entry: unknown
}

function* applied(apply: GroupWork['apply'], ready: readonly ReadyMember[]): Steps<readonly unknown[]> {
  if (ready.length === 0) return []
  const calls = ready.map(({ member, entry }) => ({ call: member.admitted.call, entry }))
  let results: unknown
  try {
    results = yield* waited(apply(calls))
  } catch (error: unknown) {
    throw new GroupRolledBack(error)
  }
  return checkedResults(results, calls.length)
}
