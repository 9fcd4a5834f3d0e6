import type { BranchCallNote, CommandNote, Evidence, PlannedTransaction } from '../evidence.ts'
import { isOfKind, readKind } from '../tokens/token.ts'
import { groupBy } from './group-by.ts'
import type { Violation } from './violation.ts'

/** I30, I31, I32, I39: the requests that banks got, against each other and against what the banks had answered. */
export function auditValues({ planned, calls, operators }: Evidence): Violation[] {
  const byGid = groupBy(calls, ({ gid }) => gid)
  const edits = operators.commands.filter(({ command }) => command === 'edit')
  return [...byGid].flatMap(([gid, mine]) => [
    ...auditSameRequest(
      gid,
      mine,
      edits.filter((edit) => edit.gid === gid),
    ),
    ...auditTrueValues(gid, mine, planned.get(gid)),
    ...auditUnknown(gid, mine, planned.get(gid)),
  ])
}

/** Each edit of an op makes one other request of it. */
function auditSameRequest(
  gid: string,
  calls: readonly BranchCallNote[],
  edits: readonly CommandNote[],
): Violation[] {
  const byOp = groupBy(
    calls.filter((call) => call.op !== 'plan' || call.grant !== undefined),
    toOpName,
  )
  return [...byOp].flatMap(([name, same]) => {
    const requests = new Set(same.map(({ request }) => request))
    const edited = edits.filter(({ op }) => op !== undefined && toOpName(op) === name).length
    if (requests.size <= 1 + edited) return []
    return [{ invariant: 'I30', subject: gid, detail: `${name} was sent as ${requests.size} requests` }]
  })
}

/** Each plan of a workflow is an op of its own. All its calls are the same only if they grant slots. */
function toOpName({ branchId, op, grant }: Pick<BranchCallNote, 'branchId' | 'op' | 'grant'>): string {
  return grant === undefined ? `${branchId} ${op}` : `${branchId} ${op} ${grant.plan}`
}

/**
 * An answer that went to a copy has never come to the orchestrator. A signal is what its client sends. The function of a workflow
 * draws its quote itself, and hands it to its steps: two of them in one journal are a step that was built on what did not stay.
 */
function auditTrueValues(
  gid: string,
  calls: readonly BranchCallNote[],
  { kind: planned, approval }: Partial<PlannedTransaction> = {},
): Violation[] {
  const signalled = approval?.tokens ?? []
  const invariant = planned === 'workflow' ? 'I39' : 'I31'
  const told = new Set([...signalled, ...calls.flatMap((call) => (isHeard(call) ? call.told : []))])
  const given = new Set(calls.flatMap((call) => call.given))
  const untold = [...given].filter((token) => !told.has(token))
  const kinds = groupBy(given, readKind)
  return [
    ...untold.map(
      (token): Violation => ({
        invariant: 'I31',
        subject: gid,
        detail: `${token} was sent, and none of its branches has answered it`,
      }),
    ),
    ...[...kinds].flatMap(([kind, different]): Violation[] =>
      different.length === 1
        ? []
        : [{ invariant, subject: gid, detail: `${different.length} values were sent as its ${kind}` }],
    ),
  ]
}

function isHeard({ statusCode, isCopy }: BranchCallNote): boolean {
  return statusCode === 200 && !isCopy
}

/** A value that an action was given stood in the record before that, and so before the abort was decided. */
function auditUnknown(
  gid: string,
  calls: readonly BranchCallNote[],
  plan: PlannedTransaction | undefined,
): Violation[] {
  const known = calls.flatMap(({ op, given }) => (op === 'compensate' ? [] : given))
  return calls.flatMap(({ branchId, op, given }): Violation[] => {
    if (op !== 'compensate') return []
    const { undoNeeds = [] } = plan?.branches.find(({ id }) => id === branchId) ?? {}
    const missing = undoNeeds.filter(
      (kind) => !given.some((token) => isOfKind(token, kind)) && known.some((token) => isOfKind(token, kind)),
    )
    return missing.map((kind) => ({
      invariant: 'I32',
      subject: gid,
      detail: `the compensation of ${branchId} did not get the ${kind} that an action had got`,
    }))
  })
}
