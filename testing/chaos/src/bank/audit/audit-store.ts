import { isFinalStatus, type Status } from '@counterstep/protocol'
import type { ClientNote, Evidence, PlannedBranch, StatusWrite, StoredRow } from '../evidence.ts'
import type { Violation } from './violation.ts'

/** I1, L1: everything that was acknowledged is there, and everything that is there has ended. */
export function auditStored({ notes, rows }: Evidence): Violation[] {
  const acknowledged = new Set(notes.filter(isAcknowledged).map(({ gid }) => gid))
  const lost = [...acknowledged].filter((gid) => !rows.has(gid))
  const stuck = [...rows.values()].filter(({ status }) => !isFinalStatus(status))
  return [
    ...lost.map(
      (gid): Violation => ({ invariant: 'I1', subject: gid, detail: 'acknowledged, but not stored' }),
    ),
    ...stuck.map(stuckViolation),
  ]
}

function stuckViolation({ gid, status, attention }: StoredRow): Violation {
  const detail = `still ${status}${attention ? ', and waits for a person' : ''}`
  return { invariant: 'L1', subject: gid, detail }
}

export function isAcknowledged({ ask, answer }: ClientNote): boolean {
  return ask === 'submit' && answer.type === 'view'
}

/** The statuses that may follow each status. None follows a final one. */
const NEXT: Readonly<Record<Status, readonly Status[]>> = {
  prepared: ['prepared', 'submitted', 'aborting', 'succeeded', 'failed', 'stopped'],
  submitted: ['submitted', 'aborting', 'succeeded', 'stopped'],
  aborting: ['aborting', 'failed', 'stopped'],
  succeeded: [],
  failed: [],
  stopped: [],
}

/** I3, I4: by the history of every row. A saga may turn around and end within one write. */
export function auditHistory({ writes }: Evidence): Violation[] {
  const last = new Map<string, StatusWrite>()
  const violations: Violation[] = []
  for (const write of writes) {
    const before = last.get(write.gid)
    last.set(write.gid, write)
    if (before !== undefined) violations.push(...auditStep(before, write))
  }
  return violations
}

function auditStep(before: StatusWrite, { gid, status, epoch }: StatusWrite): Violation[] {
  const found: Violation[] = []
  const say = (invariant: 'I3' | 'I4', detail: string) => found.push({ invariant, subject: gid, detail })
  const isShortened = before.status === 'submitted' && status === 'failed'
  if (!NEXT[before.status].includes(status) && !isShortened) say('I3', `${before.status} became ${status}`)
  if (before.status === 'aborting' && status === 'succeeded')
    say('I4', 'succeeded after the abort was decided')
  if (epoch < before.epoch) say('I3', `epoch ${before.epoch} became ${epoch}`)
  return found
}

/** I2: every gid in the store, the calls and the banks was submitted, and every effect is as it was meant. */
export function auditPhantoms({ planned, rows, calls, banks }: Evidence): Violation[] {
  const violations: Violation[] = []
  const strangers = new Set<string>()
  for (const { gid } of [...rows.values(), ...calls, ...banks.flatMap(({ effects }) => effects)]) {
    if (!planned.has(gid)) strangers.add(gid)
  }
  for (const gid of strangers)
    violations.push({ invariant: 'I2', subject: gid, detail: 'nobody submitted it' })
  for (const [bank, { effects }] of banks.entries()) {
    for (const { gid, branchId, op, account, cents } of effects) {
      const plan = planned.get(gid)
      const isOfIt = (each: PlannedBranch) =>
        plan?.kind === 'workflow' ? each.account === account : each.id === branchId
      const branch = plan?.branches.find(isOfIt)
      const sign = op === 'compensate' || op === 'cancel' ? -1 : 1
      const isMeant = branch?.bank === bank && branch.account === account && branch.cents * sign === cents
      if (plan === undefined || isMeant) continue
      const detail = `${branchId} ${op} moved ${cents} cents of ${account} at bank ${bank}, which nobody meant`
      violations.push({ invariant: 'I2', subject: gid, detail })
    }
  }
  return violations
}
