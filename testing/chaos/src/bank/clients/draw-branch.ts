import type { PlannedBranch } from '../evidence.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { ACCOUNTS } from '../service/bank-schema.ts'
import type { Mood, TransferPayload } from '../service/transfer-payload.ts'

const SLOW_MS_MAX = 250
const CENTS_MAX = 10_000

export type DrawnBranch = PlannedBranch & {
  readonly mood: Mood
  readonly slowMs: number
  readonly after?: readonly string[]
}

export function drawBranch(random: SeededRandom, id: string, cents: number, mayFail: boolean): DrawnBranch {
  const draw = random.next()
  const failing: Mood = draw < 0.06 ? 'refuses' : draw < 0.12 ? 'moody' : 'sound'
  const mood = draw > 0.95 ? 'breaks' : draw > 0.9 ? 'ongoing' : mayFail ? failing : 'sound'
  return {
    id,
    bank: random.between(0, 1),
    account: `account-${random.between(1, ACCOUNTS)}`,
    cents,
    mood,
    slowMs: random.between(0, SLOW_MS_MAX),
  }
}

export function drawCents(random: SeededRandom): number {
  return random.between(1, CENTS_MAX)
}

export function toPayload({ account, cents, slowMs, mood }: DrawnBranch): TransferPayload {
  return { account, cents, slowMs, mood }
}

export function toPlanned({ id, bank, account, cents, undoNeeds }: DrawnBranch): PlannedBranch {
  return { id, bank, account, cents, ...(undoNeeds === undefined ? {} : { undoNeeds }) }
}
