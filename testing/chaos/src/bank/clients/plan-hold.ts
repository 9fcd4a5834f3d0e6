import type { SagaBranchRequest, SagaWaitRequest } from '@counterstep/protocol'
import type { PlannedApproval, PlannedBranch } from '../evidence.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { Mood } from '../service/transfer-payload.ts'
import { UNKNOWN } from '../service/transfer-payload.ts'
import { makeToken } from '../tokens/token.ts'
import { type DrawnBranch, drawBranch, drawCents, toPayload, toPlanned } from './draw-branch.ts'

export interface HoldPlan {
  readonly input: { readonly cents: number }
  readonly branches: readonly PlannedBranch[]
  readonly requests: readonly (SagaBranchRequest | SagaWaitRequest)[]
  readonly approval?: PlannedApproval
  readonly signals?: SignalPlan
}

/** The signals that a client sends. */
export interface SignalPlan {
  readonly name: string
  /**
   * `early`: at once, often before the wait is open. `timeout`: in the millisecond in which the wait ends, or beside it.
   */
  readonly when: 'early' | 'later' | 'timeout' | 'never'
  readonly afterMs: number
  readonly sent: readonly SentSignal[]
}

export interface SentSignal {
  readonly id: string
  readonly token: string
  /** How often it is sent at the same time, each time to any server. */
  readonly copies: number
}

const QUOTE = { $from: 'quote', at: '/id' } as const
const HELD = { $from: 'hold', at: '/id' } as const
const PAYMENT = { $from: 'capture', at: '/id' } as const
const APPROVED = { $from: 'approval', at: '/id', else: 'none' } as const
const SIDE_BY_SIDE = 0.5
const TIMEOUT_MS_MIN = 300
const TIMEOUT_MS_MAX = 1_500
const TIMER_MS_MAX = 150
const AROUND_MS = 3

interface DrawnHold {
  readonly hold: DrawnBranch
  readonly capture: DrawnBranch
  readonly receipt: DrawnBranch
}

/**
 * The plan of a transfer that hands ids on. A quote, which is another one each time that it is asked for, stands in a
 * header of each branch after it; the hold's id in the capture's URL and in the release; the payment's id in the URL of
 * the capture's own undoing, and in the receipt at the other bank.
 */
export function planHold(random: SeededRandom, bankUrls: readonly string[]): HoldPlan {
  const drawn = drawHold(random)
  const [near, far] = [bankUrls[drawn.hold.bank] ?? '', bankUrls[drawn.receipt.bank] ?? '']
  const capture = captureRequest(drawn.capture, near)
  const receipt = receiptRequest(drawn.receipt, far)
  return {
    ...holdPlan(drawn),
    requests: [
      ...holdRequests(drawn, near, far, random.chance(SIDE_BY_SIDE)),
      {
        ...capture,
        after: ['quote', 'hold'],
        payload: { ...toPayload(drawn.capture) },
        compensation: {
          url: `${near}/payments/{payment}/refund`,
          with: { payment: { ...PAYMENT, else: UNKNOWN } },
          payload: { ...toPayload(drawn.capture) },
        },
      },
      { ...receipt, compensation: { url: receipt.action, template: receipt.template } },
    ],
  }
}

/** The same transfer, but it waits for an approval and for a time, and then cannot be undone any more. */
export function planApproval(random: SeededRandom, bankUrls: readonly string[], gid: string): HoldPlan {
  const { hold, capture, ...later } = drawHold(random)
  const receipt = withoutMoods(later.receipt, ['moody', 'refuses'])
  const [near, far] = [bankUrls[hold.bank] ?? '', bankUrls[receipt.bank] ?? '']
  const { timeoutMs, tokens, signals } = drawSignalPlan(random, gid)
  return {
    ...holdPlan({ hold, capture, receipt }),
    requests: [
      ...holdRequests({ hold, capture, receipt }, near, far, random.chance(SIDE_BY_SIDE)),
      {
        id: 'approval',
        after: ['quote', 'hold'],
        wait: { signal: 'approval', timeoutMs, onTimeout: random.chance(0.5) ? 'abort' : 'continue' },
      },
      { id: 'rest', wait: { ms: random.between(0, TIMER_MS_MAX) } },
      {
        ...captureRequest(capture, near),
        template: { ...toPayload(capture), approval: APPROVED },
        role: 'pivot',
      },
      { ...receiptRequest(receipt, far), role: 'retriable' },
    ],
    approval: {
      wait: 'approval',
      timer: 'rest',
      pivot: 'capture',
      retriable: 'receipt',
      tokens,
    },
    signals,
  }
}

function drawHold(random: SeededRandom): DrawnHold {
  const cents = drawCents(random)
  const hold = drawBranch(random, 'hold', -cents, true)
  const capture = drawBranch(random, 'capture', cents, true)
  const receipt = drawBranch(random, 'receipt', 0, true)
  return {
    hold: { ...hold, undoNeeds: ['hold'] },
    capture: { ...capture, bank: hold.bank, undoNeeds: ['payment'] },
    receipt: { ...receipt, bank: 1 - hold.bank, undoNeeds: ['payment', 'quote'] },
  }
}

function holdPlan({ hold, capture, receipt }: DrawnHold) {
  return { input: { cents: hold.cents }, branches: [hold, capture, receipt].map(toPlanned) }
}

function holdRequests(
  { hold }: DrawnHold,
  near: string,
  far: string,
  isSideBySide: boolean,
): readonly SagaBranchRequest[] {
  return [
    {
      id: 'quote',
      action: `${far}/quotes`,
      payload: { account: hold.account, cents: 0, slowMs: hold.slowMs, mood: 'sound' },
    },
    {
      id: 'hold',
      action: `${near}/holds`,
      template: { ...toPayload(hold), cents: { $input: '/cents' } },
      compensation: { url: `${near}/release`, template: { ...toPayload(hold), hold: HELD } },
      ...(isSideBySide ? { after: [] } : { headers: { 'x-quote': QUOTE } }),
    },
  ]
}

function captureRequest({ id }: DrawnBranch, near: string) {
  return {
    id,
    action: { url: `${near}/holds/{hold}/capture`, with: { hold: HELD } },
    headers: { 'x-quote': QUOTE },
  }
}

function receiptRequest(receipt: DrawnBranch, far: string) {
  return {
    id: receipt.id,
    action: `${far}/move`,
    template: { ...toPayload(receipt), payment: PAYMENT, quote: QUOTE },
  }
}

function withoutMoods(branch: DrawnBranch, moods: readonly Mood[]): DrawnBranch {
  return moods.includes(branch.mood) ? { ...branch, mood: 'sound' } : branch
}

/** Draws how long a transaction waits for its approval, and who sends one when. */
export function drawSignalPlan(random: SeededRandom, gid: string) {
  const sent = drawSignals(random, gid)
  const timeoutMs = random.between(TIMEOUT_MS_MIN, TIMEOUT_MS_MAX)
  const signals: SignalPlan = { name: 'approval', sent, ...drawMoment(random) }
  return { timeoutMs, tokens: sent.map(({ token }) => token), signals }
}

/** One person who approves, or two at the same time. */
function drawSignals(random: SeededRandom, gid: string): readonly SentSignal[] {
  const people = random.chance(0.3) ? 2 : 1
  return Array.from({ length: people }, (_, index) => ({
    id: `${gid}-person-${index + 1}`,
    token: makeToken('approval'),
    copies: random.between(1, 3),
  }))
}

function drawMoment(random: SeededRandom): Pick<SignalPlan, 'when' | 'afterMs'> {
  const draw = random.next()
  if (draw < 0.3) return { when: 'early', afterMs: 0 }
  if (draw < 0.5) return { when: 'later', afterMs: random.between(0, TIMEOUT_MS_MIN) }
  if (draw < 0.85) return { when: 'timeout', afterMs: random.between(-AROUND_MS, AROUND_MS) }
  return { when: 'never', afterMs: 0 }
}
