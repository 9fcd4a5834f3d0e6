import type { BulkView, OpView, TransactionView } from '@counterstep/protocol'
import type { BranchCallNote, CommandNote, Evidence } from '../evidence.ts'
import { PAUSE_SETTLES_MS } from '../operators/plan-commands.ts'
import { groupBy } from './group-by.ts'
import type { InvariantName, Violation } from './violation.ts'

/** Everything that is known of one transaction that operators commanded. */
interface Operated {
  readonly view: TransactionView
  readonly commands: readonly CommandNote[]
  readonly calls: readonly BranchCallNote[]
}

/** I26, I27, I28: by what operators were told, by what banks saw, and by the trail that a server shows in the end. */
export function auditCommands({ operators, calls }: Evidence): Violation[] {
  const { commands, jobs, views } = operators
  const commandsByGid = groupBy(commands, ({ gid }) => gid)
  const callsByGid = groupBy(calls, ({ gid }) => gid)
  const missing = [...commandsByGid.keys()].filter((gid) => !views.some((view) => view.gid === gid))
  return [
    ...missing.map((gid) => toViolation('I27', gid, 'it was commanded, and no server shows it')),
    ...views.flatMap((view) => {
      const { gid } = view
      const operated = { view, commands: commandsByGid.get(gid) ?? [], calls: callsByGid.get(gid) ?? [] }
      return [
        ...findWrongEnds(operated).map((detail) => toViolation('I26', gid, detail)),
        ...findWrongTrail(operated, jobs).map((detail) => toViolation('I27', gid, detail)),
        ...findCallsInPause(operated).map((detail) => toViolation('I28', gid, detail)),
      ]
    }),
    ...jobs.flatMap((job) => findWrongCounts(job, views).map((detail) => toViolation('I27', job.id, detail))),
  ]
}

function toViolation(invariant: InvariantName, subject: string, detail: string): Violation {
  return { invariant, subject, detail }
}

/** A bank whose answer did not arrive has not made the op succeed, and a copy is no call of the orchestrator. */
function findWrongEnds({ view, calls }: Operated): string[] {
  return view.branches.flatMap(({ id, ops }) =>
    ops.flatMap((op) => {
      const isSkipped = (view.trail ?? []).some(
        (entry) => entry.command === 'skip' && entry.op?.branchId === id && entry.op.op === op.op,
      )
      const hasAnswer = calls.some(
        (call) => call.branchId === id && call.op === op.op && call.statusCode === 200 && !call.isCopy,
      )
      return findWrongEnd(op, isSkipped, hasAnswer).map((detail) => `${id} ${op.op} ${detail}`)
    }),
  )
}

function findWrongEnd({ state, byHand }: OpView, isSkipped: boolean, hasAnswer: boolean): readonly string[] {
  if (isSkipped !== (byHand !== undefined))
    return [isSkipped ? 'was skipped, and is not by hand' : 'is by hand, and the trail has no skip of it']
  return state === 'succeeded' && !isSkipped && !hasAnswer ? ['has succeeded without an answer'] : []
}

function findWrongTrail({ view, commands }: Operated, jobs: readonly BulkView[]): string[] {
  const trail = view.trail ?? []
  const own = trail.filter(({ bulk }) => bulk === undefined)
  const [durable, refused] = [
    commands.filter(({ outcome }) => outcome === 'durable'),
    commands.filter(({ outcome }) => outcome !== 'durable'),
  ]
  const isMergeable = ({ command }: Pick<CommandNote, 'command'>) =>
    command === 'retry' || command === 'retry-op'
  const faults = refused
    .filter(({ outcome, mayComeTooLate }) => mayComeTooLate !== true || outcome !== 'SAGA_ALREADY_FINAL')
    .map(({ command, id, outcome }) => `${command} ${id} was refused with ${outcome}`)
  for (const { command, id } of durable.filter((each) => !isMergeable(each))) {
    const count = own.filter((entry) => entry.id === id).length
    if (count !== 1)
      faults.push(`${command} ${id} was answered as durable, and the trail has it ${count} times`)
  }
  // Retries of one operator in a row are one entry, which counts them.
  for (const command of ['retry', 'retry-op'] as const) {
    const told = durable.filter((each) => each.command === command).length
    const kept = own.filter((entry) => entry.command === command)
    const count = kept.reduce((sum, entry) => sum + (entry.count ?? 1), 0)
    if (count !== told)
      faults.push(`${told} commands ${command} were answered as durable, and the trail counts ${count}`)
  }
  const given = new Set(commands.map(({ id }) => id))
  for (const { id, command } of own)
    if (!given.has(id)) faults.push(`the trail has ${command} ${id}, which nobody gave`)
  for (const { id } of jobs) {
    const count = trail.filter(({ bulk }) => bulk === id).reduce((sum, each) => sum + (each.count ?? 1), 0)
    if (count > 1) faults.push(`the bulk job ${id} gave its command ${count} times`)
  }
  return faults
}

/** One call may have been under way, and a node that was stopped may start one more before it sees that its lease is over. */
const LATE_CALLS_MAX = 2

/**
 * Counts the calls of each op in a pause that all have learned of. A pause that were ignored would let many pass. A call that its
 * caller has given up is not counted: on a machine that is short of time it may arrive seconds after it was sent.
 */
function findCallsInPause({ commands, calls }: Operated): string[] {
  const pause = commands.find(({ command, outcome }) => command === 'pause' && outcome === 'durable')
  const resume = commands.find(({ command }) => command === 'resume')
  if (pause === undefined || resume === undefined) return []
  const settledAt = pause.answeredAt + PAUSE_SETTLES_MS
  const late = calls.filter(
    ({ isCopy, isCallerGone, at }) => !isCopy && !isCallerGone && at > settledAt && at < resume.askedAt,
  )
  const byOp = groupBy(late, ({ branchId, op }) => `${branchId} ${op}`)
  return [...byOp]
    .filter(([, same]) => same.length > LATE_CALLS_MAX)
    .map(([name, same]) => `${name} was called ${same.length} times in its pause`)
}

/** The counts of a job add up, and are those of the trails. */
function findWrongCounts({ id, counts }: BulkView, views: readonly TransactionView[]): string[] {
  if (counts === undefined) return ['it shows no counts']
  const { total, waiting, given, gotOn, failedAgain, notAnswered, refused, gone } = counts
  const faults: string[] = []
  if (waiting !== 0 || gone !== 0) faults.push(`${waiting} wait and ${gone} are gone`)
  if (total !== waiting + given + refused + gone)
    faults.push(`${waiting} + ${given} + ${refused} + ${gone} are not the ${total} of it`)
  if (given !== gotOn + failedAgain + notAnswered)
    faults.push(`${gotOn} + ${failedAgain} + ${notAnswered} are not the ${given} that were given`)
  const kept = views.filter(({ trail = [] }) => trail.some(({ bulk }) => bulk === id)).length
  if (kept !== given) faults.push(`${given} were given, and ${kept} trails have it`)
  return faults
}
