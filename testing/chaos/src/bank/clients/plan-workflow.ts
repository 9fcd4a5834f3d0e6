import type { WorkflowSubmitRequest } from '@counterstep/protocol'
import { canary } from '@counterstep/test-servers/canary'
import type { PlannedApproval, PlannedBranch } from '../evidence.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { ACCOUNTS } from '../service/bank-schema.ts'
import type { StepMood } from '../service/mood.ts'
import type { Mood } from '../service/transfer-payload.ts'
import {
  type CalledMove,
  type LocalMove,
  type Move,
  type Part,
  TRANSFER_WORKFLOW,
  type TransferInput,
} from '../service/transfer-workflow.ts'
import { type DrawnBranch, drawBranch, drawCents, toPayload, toPlanned } from './draw-branch.ts'
import { drawSignalPlan, type SignalPlan } from './plan-hold.ts'

/** The others have a call for each of their local steps. */
const GRANTED = 0.75
const GRANTS = [2, 8, 8] as const
const REST_MS_MAX = 150
const QUOTED = 0.4
const QUOTE_MS_MAX = 150
const CAUGHT = 0.3
const MAY_FAIL = 0.5
const CALLED = 0.4
const WITHHELD = 0.05
const APPROVED = 0.25
const REFUSES_AT_LAST = 0.1
/** Their accounts are so far from each other that no two moves of a workflow have one account. */
const ACCOUNTS_APART = 7

export interface WorkflowPlan {
  readonly branches: readonly PlannedBranch[]
  readonly request: WorkflowSubmitRequest
  /** The action of this call arrives only after its compensation. */
  readonly withheldBranch?: string
  readonly approval?: PlannedApproval
  readonly signals?: SignalPlan
}

/**
 * The plan of a workflow: one bank serves its function and its local steps, and it calls any bank. Whatever is caught on the way,
 * the moves of a workflow that succeeds add up to nothing.
 */
export function planWorkflow(random: SeededRandom, bankUrls: readonly string[], gid: string): WorkflowPlan {
  const draw = new DrawnMoves(random, bankUrls)
  const isWithheld = random.chance(WITHHELD)
  const asked = !isWithheld && random.chance(APPROVED) ? drawSignalPlan(random, gid) : undefined
  const parts = [
    ...drawFirst(random, draw),
    ...drawMiddle(random, draw),
    ...(isWithheld ? [drawDoomed(draw)] : []),
    ...(asked === undefined ? drawEnd(random, draw) : drawPivot(random, draw, asked.timeoutMs)),
  ]
  const input: TransferInput = { parts }
  return {
    branches: draw.planned,
    request: {
      kind: 'workflow',
      workflow: TRANSFER_WORKFLOW,
      handler: `${bankUrls[draw.host]}/workflows`,
      input: { ...input },
      ...(random.chance(GRANTED) ? { version: 1, grants: random.pick(GRANTS) } : {}),
    },
    ...(isWithheld ? { withheldBranch: 'late' } : {}),
    ...(asked && { approval: { ...APPROVAL, tokens: asked.tokens }, signals: asked.signals }),
  }
}

const APPROVAL = { wait: 'approval', timer: 'rest', pivot: 'pivot', retriable: 'receipt' } as const

/** Several steps that run within one plan call if it grants slots. Behind a quote they would be built on what may not stay. */
function drawFirst(random: SeededRandom, draw: DrawnMoves): readonly Part[] {
  const steps = Array.from({ length: random.between(2, 5) }, () => draw.part(draw.cents(), false))
  if (!random.chance(QUOTED)) return steps
  const quote: Part = { type: 'quote', slowMs: random.between(0, QUOTE_MS_MAX) }
  return steps.toSpliced(random.between(0, steps.length), 0, quote)
}

function drawMiddle(random: SeededRandom, draw: DrawnMoves): readonly Part[] {
  const parts: Part[] = []
  parts.push(draw.part(draw.cents(), true))
  if (random.chance(0.3)) parts.push({ type: 'rest', id: 'nap', ms: random.between(0, REST_MS_MAX) })
  if (random.chance(0.5)) {
    const moves = [draw.call(draw.cents()), draw.local(draw.cents())]
    parts.push({
      type: 'together',
      moves: random.chance(0.5) ? [...moves, draw.move(draw.cents())] : moves,
    })
  }
  for (let more = random.between(0, 2); more > 0; more--) parts.push(draw.part(draw.cents(), false))
  return parts
}

/** Two calls side by side: one refuses, while the other's action is still on its way. */
function drawDoomed(draw: DrawnMoves): Part {
  return {
    type: 'together',
    moves: [
      draw.call(draw.cents(), { label: 'late', mood: 'sound' }),
      draw.call(draw.cents(), { label: 'refusing', mood: 'refuses' }),
    ],
  }
}

function drawEnd(random: SeededRandom, draw: DrawnMoves): readonly Part[] {
  const last = { type: 'one', move: draw.move(draw.rest) } as const
  return random.chance(REFUSES_AT_LAST) ? [last, { type: 'refuse' }] : [last]
}

/** An approval, a rest, the point of no return, and what follows it. */
function drawPivot(random: SeededRandom, draw: DrawnMoves, timeoutMs: number): readonly Part[] {
  const pivot = draw.call(draw.cents(), { label: APPROVAL.pivot })
  const receipt = draw.call(draw.cents(), { label: APPROVAL.retriable, without: ['moody', 'refuses'] })
  const kept = draw.local(draw.rest, ['moody', 'refuses'])
  return [
    { type: 'approval', timeoutMs, isNeeded: random.chance(0.5) },
    { type: 'rest', id: APPROVAL.timer, ms: random.between(0, REST_MS_MAX) },
    { type: 'pivot', pivot, receipt, kept },
  ]
}

interface CallChoice {
  readonly label: string
  readonly mood?: Mood
  readonly without?: readonly Mood[]
}

/** Draws the moves of one workflow, each on an account of its own, so that the ledger shows which one it was. */
class DrawnMoves {
  readonly planned: PlannedBranch[] = []
  readonly host: number
  readonly #random: SeededRandom
  readonly #bankUrls: readonly string[]
  readonly #firstAccount: number
  #sum = 0

  constructor(random: SeededRandom, bankUrls: readonly string[]) {
    this.#random = random
    this.#bankUrls = bankUrls
    this.host = random.between(0, 1)
    this.#firstAccount = random.between(0, ACCOUNTS - 1)
  }

  /** Draws an amount for a move that is not the last one. */
  cents(): number {
    const cents = this.#random.chance(0.5) ? drawCents(this.#random) : -drawCents(this.#random)
    this.#sum += cents
    return cents
  }

  /** The amount that the last move has, so that all of them add up to nothing. */
  get rest(): number {
    return -this.#sum
  }

  part(cents: number, isCall: boolean): Part {
    const draw = () => (isCall ? this.call(cents) : this.local(cents))
    if (!this.#random.chance(CAUGHT)) return { type: 'one', move: draw() }
    return { type: 'either', move: draw(), other: this.move(cents) }
  }

  move(cents: number): Move {
    return this.#random.chance(CALLED) ? this.call(cents) : this.local(cents)
  }

  local(cents: number, without: readonly Mood[] = []): LocalMove {
    const drawn = this.#draw(`step-${this.planned.length}`, cents)
    this.#plan({ ...drawn, bank: this.host })
    const mood = without.includes(drawn.mood) ? 'sound' : toStepMood(drawn.mood)
    return { label: drawn.id, account: drawn.account, cents, mood }
  }

  call(cents: number, { label, mood, without = [] }: Partial<CallChoice> = {}): CalledMove {
    const drawn = this.#draw(label ?? `call-${this.planned.length}`, cents)
    this.#plan(drawn)
    const given = mood ?? (without.includes(drawn.mood) ? 'sound' : drawn.mood)
    const payload = { ...toPayload({ ...drawn, mood: given }), secret: canary('payload') }
    return { label: drawn.id, url: `${this.#bankUrls[drawn.bank]}/move`, payload }
  }

  #draw(label: string, cents: number): DrawnBranch {
    const place = (this.#firstAccount + ACCOUNTS_APART * this.planned.length) % ACCOUNTS
    const drawn = drawBranch(this.#random, label, cents, this.#random.chance(MAY_FAIL))
    return { ...drawn, account: `account-${place + 1}` }
  }

  #plan(drawn: DrawnBranch): void {
    this.planned.push(toPlanned(drawn))
  }
}

/** A step that is not done yet has no word for it. */
function toStepMood(mood: Mood): StepMood {
  return mood === 'ongoing' || mood === 'dead' ? 'breaks' : mood
}
