import type {
  MessageSubmitRequest,
  SagaBranchRequest,
  SagaSubmitRequest,
  WorkflowSubmitRequest,
} from '@counterstep/protocol'
import { withSecrets } from '@counterstep/test-servers/with-secrets'
import type { PlannedTransaction } from '../evidence.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { type DrawnBranch, drawBranch, drawCents, toPayload, toPlanned } from './draw-branch.ts'
import { type HoldPlan, planApproval, planHold, type SignalPlan } from './plan-hold.ts'
import { planWorkflow } from './plan-workflow.ts'

/** The plan of one client. */
export interface ClientPlan {
  readonly transaction: PlannedTransaction
  readonly request: (SagaSubmitRequest | MessageSubmitRequest | WorkflowSubmitRequest) & {
    readonly gid: string
  }
  /** `wait`: asks for the end with the submit, until it has it. */
  readonly after: 'leave' | 'wait' | 'look' | 'abort'
  readonly abortAfterMs: number
  /** Submits the same once more after it was accepted, or something else under its gid. */
  readonly again: 'nothing' | 'same' | 'other-content'
  /** Leaves for good if the first answer is that it was not accepted. */
  readonly givesUp: boolean
  /** The action of this branch arrives only after its compensation. */
  readonly withheldBranch?: string
  readonly signals?: SignalPlan
}

const MESSAGES = 0.08
const WITHHELD = 0.05
const HOLDS = 0.15
const APPROVALS = 0.2
const ABORT_MS_MAX = 500
const DEADLINE_MS_MIN = 200
const DEADLINE_MS_MAX = 900

interface Draw {
  readonly random: SeededRandom
  readonly bankUrls: readonly string[]
  /** Where the moves of each bank are called, if some of them are functions of the server. By default at the banks themselves. */
  readonly moveUrls?: readonly string[]
  /** Whether some of the transfers hand ids on, which banks without a barrier cannot do. */
  readonly hasHolds: boolean
  /** Whether some of these wait for an approval, too. */
  readonly hasApprovals: boolean
  /** The share of workflows, whose undoing needs the rows of the barrier. */
  readonly workflows: number
}

/** The plan of one client: a transfer as a chain, a fan, a hold, or a message; a good part of them fail on the way. */
export function planTransaction(index: number, seed: number, draw: Draw): ClientPlan {
  const { random, bankUrls, moveUrls = bankUrls, hasHolds } = draw
  const gid = `chaos-${seed}-${index}`
  if (draw.workflows > 0 && random.chance(draw.workflows)) return planOfWorkflow(gid, draw)
  const isMessage = random.chance(MESSAGES)
  const isWithheld = !isMessage && random.chance(WITHHELD)
  const hold = hasHolds && !isMessage && !isWithheld ? drawHoldPlan(gid, draw) : undefined
  const moves = hold === undefined ? drawMoves(random, isMessage, isWithheld) : []
  const kind = isMessage ? 'message' : 'saga'
  const hasDeadline = !isMessage && !isWithheld && random.chance(0.05)
  const request = {
    gid,
    kind,
    branches: hold?.requests ?? moves.map((move) => toRequest(move, moveUrls, isMessage)),
    ...(hold === undefined ? {} : { input: hold.input }),
    ...(hasDeadline ? { deadlineMs: random.between(DEADLINE_MS_MIN, DEADLINE_MS_MAX) } : {}),
  } as ClientPlan['request']
  return {
    transaction: {
      gid,
      kind,
      branches: hold?.branches ?? moves.map(toPlanned),
      ...(hold?.approval === undefined ? {} : { approval: hold.approval }),
    },
    request: withSecrets(request),
    ...drawManners(random, isMessage),
    ...(isWithheld ? { withheldBranch: 'late' } : {}),
    ...(hold?.signals === undefined ? {} : { signals: hold.signals }),
  }
}

function planOfWorkflow(gid: string, { random, bankUrls }: Draw): ClientPlan {
  const { branches, request, withheldBranch, approval, signals } = planWorkflow(random, bankUrls, gid)
  const deadline = random.chance(0.05) ? { deadlineMs: random.between(DEADLINE_MS_MIN, DEADLINE_MS_MAX) } : {}
  return {
    transaction: {
      gid,
      kind: 'workflow',
      branches,
      grants: request.grants ?? 0,
      ...(approval === undefined ? {} : { approval }),
    },
    request: withSecrets({ ...request, ...deadline, gid }),
    ...drawManners(random, false),
    ...(withheldBranch === undefined ? {} : { withheldBranch }),
    ...(signals === undefined ? {} : { signals }),
  }
}

function drawHoldPlan(gid: string, { random, bankUrls, hasApprovals }: Draw): HoldPlan | undefined {
  const share = random.next()
  if (share < APPROVALS)
    return hasApprovals ? planApproval(random, bankUrls, gid) : planHold(random, bankUrls)
  return share < APPROVALS + HOLDS ? planHold(random, bankUrls) : undefined
}

function drawMoves(random: SeededRandom, isMessage: boolean, isWithheld: boolean): readonly DrawnBranch[] {
  if (isMessage) return chain(random, false)
  return isWithheld ? doomedFan(random) : ordinary(random)
}

function toRequest(move: DrawnBranch, moveUrls: readonly string[], isMessage: boolean): SagaBranchRequest {
  const url = `${moveUrls[move.bank]}/move`
  const { id, after } = move
  return {
    id,
    action: url,
    payload: { ...toPayload(move) },
    ...(isMessage ? {} : { compensation: url, ...(after === undefined ? {} : { after }) }),
  }
}

function drawManners(
  random: SeededRandom,
  isMessage: boolean,
): Pick<ClientPlan, 'after' | 'abortAfterMs' | 'again' | 'givesUp'> {
  const draw = random.next()
  const again = random.next()
  const after = draw < 0.4 ? 'wait' : draw < 0.6 ? 'look' : draw < 0.72 && !isMessage ? 'abort' : 'leave'
  return {
    after,
    abortAfterMs: random.between(0, ABORT_MS_MAX),
    again: again < 0.15 ? 'same' : again < 0.2 ? 'other-content' : 'nothing',
    givesUp: random.chance(0.1),
  }
}

function ordinary(random: SeededRandom): readonly DrawnBranch[] {
  return random.chance(0.35) ? fan(random) : chain(random, true)
}

/** Money leaves one bank and comes to the other, or moves within one. */
function chain(random: SeededRandom, mayFail: boolean): readonly DrawnBranch[] {
  const cents = drawCents(random)
  return [
    drawBranch(random, 'debit', -cents, mayFail),
    drawBranch(random, 'credit', cents, mayFail),
    ...(random.chance(0.3)
      ? [drawBranch(random, 'fee', -1, mayFail), drawBranch(random, 'fee-in', 1, mayFail)]
      : []),
  ]
}

/** One debit, then credits side by side. */
function fan(random: SeededRandom): readonly DrawnBranch[] {
  const cents = drawCents(random)
  const after = ['debit']
  return [
    drawBranch(random, 'debit', -2 * cents, true),
    { ...drawBranch(random, 'credit-1', cents, true), after },
    { ...drawBranch(random, 'credit-2', cents, true), after },
  ]
}

/** Two branches side by side: one refuses, while the other's action is still on its way. */
function doomedFan(random: SeededRandom): readonly DrawnBranch[] {
  const cents = drawCents(random)
  return [
    { ...drawBranch(random, 'late', -cents, false), mood: 'sound', after: [] },
    { ...drawBranch(random, 'refusing', cents, false), mood: 'refuses', after: [] },
  ]
}
