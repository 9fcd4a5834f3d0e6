import type { WorkflowSubmitRequest } from '@counterstep/protocol'
import { canary } from '@counterstep/test-servers/canary'
import type { PlannedBranch } from '../evidence.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { type StepMove, TRANSFER_WORKFLOW, type TransferInput } from '../service/transfer-workflow.ts'
import { type DrawnBranch, drawBranch, drawCents, toPayload, toPlanned } from './draw-branch.ts'

const REST_MS_MAX = 150
/** The others have a call for each of their local steps. */
const GRANTED = 0.7
const GRANTS = 8
const REFUSES_AT_LAST = 0.1
const SLOTS = ['~1', '~2', '~3'] as const

export interface WorkflowPlan {
  readonly branches: readonly PlannedBranch[]
  readonly request: WorkflowSubmitRequest
}

/**
 * The plan of a workflow: one bank serves its function and its local steps, and it calls any bank. The slots of the steps are
 * numbered in the order in which the function asks for them.
 */
export function planWorkflow(random: SeededRandom, bankUrls: readonly string[]): WorkflowPlan {
  const cents = drawCents(random)
  const host = random.between(0, 1)
  const draw = (id: string, amount: number) => drawBranch(random, id, amount, true)
  const local = SLOTS.map((slot, index) => ({ ...draw(slot, index === 0 ? -cents : -1), bank: host }))
  const [first, second] = [draw('first', cents), draw('second', 2)]
  const [one, two, three] = local.map(toStepMove)
  if (one === undefined || two === undefined || three === undefined) throw new Error('a slot has no step')
  const input: TransferInput = {
    moves: [one, two, three],
    calls: [toCalledMove(first, bankUrls), toCalledMove(second, bankUrls)],
    restMs: random.between(0, REST_MS_MAX),
    refusesAtLast: random.chance(REFUSES_AT_LAST),
  }
  return {
    branches: [...local, first, second].map(toPlanned),
    request: {
      kind: 'workflow',
      workflow: TRANSFER_WORKFLOW,
      handler: `${bankUrls[host]}/workflows`,
      input: { ...input },
      ...(random.chance(GRANTED) ? { grants: GRANTS } : {}),
    },
  }
}

function toStepMove({ account, cents, mood }: DrawnBranch): StepMove {
  return { account, cents, refuses: mood === 'refuses' }
}

function toCalledMove(branch: DrawnBranch, bankUrls: readonly string[]): TransferInput['calls'][number] {
  return {
    url: `${bankUrls[branch.bank]}/move`,
    payload: { ...toPayload(branch), secret: canary('payload') },
  }
}
