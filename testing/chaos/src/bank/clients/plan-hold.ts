import type { SagaBranchRequest } from '@counterstep/protocol'
import type { PlannedBranch } from '../evidence.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { UNKNOWN } from '../service/transfer-payload.ts'
import { type DrawnBranch, drawBranch, drawCents, toPayload, toPlanned } from './draw-branch.ts'

export interface HoldPlan {
  readonly input: { readonly cents: number }
  readonly branches: readonly PlannedBranch[]
  readonly requests: readonly SagaBranchRequest[]
}

const QUOTE = { $from: 'quote', at: '/id' } as const
const HELD = { $from: 'hold', at: '/id' } as const
const PAYMENT = { $from: 'capture', at: '/id' } as const
const SIDE_BY_SIDE = 0.5

/**
 * The plan of a transfer that hands ids on. A quote, which is another one each time that it is asked for, stands in a
 * header of each branch after it; the hold's id in the capture's URL and in the release; the payment's id in the URL of
 * the capture's own undoing, and in the receipt at the other bank.
 */
export function planHold(random: SeededRandom, bankUrls: readonly string[]): HoldPlan {
  const cents = drawCents(random)
  const hold: DrawnBranch = { ...drawBranch(random, 'hold', -cents, true), undoNeeds: ['hold'] }
  const capture: DrawnBranch = {
    ...drawBranch(random, 'capture', cents, true),
    bank: hold.bank,
    undoNeeds: ['payment'],
  }
  const receipt: DrawnBranch = {
    ...drawBranch(random, 'receipt', 0, true),
    bank: 1 - hold.bank,
    undoNeeds: ['payment', 'quote'],
  }
  const [near, far] = [bankUrls[hold.bank], bankUrls[receipt.bank]]
  const isSideBySide = random.chance(SIDE_BY_SIDE)
  const headers = { 'x-quote': QUOTE }
  return {
    input: { cents: -cents },
    branches: [hold, capture, receipt].map(toPlanned),
    requests: [
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
        ...(isSideBySide ? { after: [] } : { headers }),
      },
      {
        id: 'capture',
        action: { url: `${near}/holds/{hold}/capture`, with: { hold: HELD } },
        payload: { ...toPayload(capture) },
        headers,
        compensation: {
          url: `${near}/payments/{payment}/refund`,
          with: { payment: { ...PAYMENT, else: UNKNOWN } },
          payload: { ...toPayload(capture) },
        },
        ...(isSideBySide ? { after: ['quote', 'hold'] } : {}),
      },
      {
        id: 'receipt',
        action: `${far}/move`,
        template: { ...toPayload(receipt), payment: PAYMENT, quote: QUOTE },
        compensation: {
          url: `${far}/move`,
          template: { ...toPayload(receipt), payment: PAYMENT, quote: QUOTE },
        },
      },
    ],
  }
}
