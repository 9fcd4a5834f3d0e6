import type { SeededRandom } from '../bank/seeded-random.ts'
import { ACCOUNTS } from './service/tables.ts'
import type { WorkflowData } from './service/workflow-service.ts'

/**
 * The client of an XA submits or aborts after both calls; a branch refuses; the client dies; or it aborts while a branch
 * that is registered is not prepared yet.
 */
export type XaCourse =
  | 'submit'
  | 'abort'
  | 'refused'
  | 'dies-prepared'
  | 'dies-called'
  | 'dies-deciding'
  | 'hasty'

export interface Move {
  readonly account: number
  readonly amount: number
}

export interface XaPlan {
  readonly kind: 'xa'
  readonly gid: string
  readonly course: XaCourse
  readonly moves: readonly [Move, Move]
}

export interface RecordedPlan {
  readonly kind: 'recorded'
  readonly gid: string
  readonly data: WorkflowData
  /** Where the first run leaves off. */
  readonly leavesAt?: string
}

export type DtmPlan = XaPlan | RecordedPlan

const XA_SHARE = 0.5
const REFUSED_SHARE = 0.35
const LEAVES_SHARE = 0.4
const AMOUNT_MAX = 50
const STEPS = 3
const COURSES: readonly XaCourse[] = [
  ...Array<XaCourse>(10).fill('submit'),
  'abort',
  'refused',
  'refused',
  'dies-prepared',
  'dies-called',
  'dies-deciding',
  'hasty',
  'hasty',
]
const LEAVES_AT = [
  'step-done01',
  'step-reported01',
  'step-done02',
  'step-reported02',
  'step-done03',
  'step-reported03',
  'workflow-ended',
]

export function planDtm(transactions: number, seed: number, random: SeededRandom): readonly DtmPlan[] {
  return Array.from({ length: transactions }, (_, index) => {
    const gid = `dtm-${seed}-${index}`
    const moves = drawMoves(random)
    if (random.chance(XA_SHARE)) return { kind: 'xa', gid, moves, course: random.pick(COURSES) }
    const isRefused = random.chance(REFUSED_SHARE)
    const refused = random.between(0, STEPS - 1)
    const leavesAt = random.pick(LEAVES_AT)
    // The last step moves nothing. It leaves something to do after both accounts.
    const steps = [...moves, { account: moves[0].account, amount: 0 }]
    const data = isRefused ? { steps, refused } : { steps }
    return { kind: 'recorded', gid, data, ...(random.chance(LEAVES_SHARE) ? { leavesAt } : {}) }
  })
}

function drawMoves(random: SeededRandom): readonly [Move, Move] {
  const from = random.between(1, ACCOUNTS)
  const to = (from + random.between(0, ACCOUNTS - 2)) % ACCOUNTS
  const amount = random.between(1, AMOUNT_MAX)
  return [
    { account: from, amount: -amount },
    { account: to + 1, amount },
  ]
}
