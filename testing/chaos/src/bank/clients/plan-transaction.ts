import type { MessageSubmitRequest, SagaBranchRequest, SagaSubmitRequest } from '@counterstep/protocol'
import { withSecrets } from '@counterstep/test-servers/with-secrets'
import type { PlannedBranch, PlannedTransaction } from '../evidence.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { ACCOUNTS } from '../service/bank-schema.ts'
import type { Mood, TransferPayload } from '../service/transfer-payload.ts'

/** The plan of one client. */
export interface ClientPlan {
  readonly transaction: PlannedTransaction
  readonly request: (SagaSubmitRequest | MessageSubmitRequest) & { readonly gid: string }
  /** `wait`: asks for the end with the submit, until it has it. */
  readonly after: 'leave' | 'wait' | 'look' | 'abort'
  readonly abortAfterMs: number
  /** Submits the same once more after it was accepted, or something else under its gid. */
  readonly again: 'nothing' | 'same' | 'other-content'
  /** Leaves for good if the first answer is that it was not accepted. */
  readonly givesUp: boolean
  /** The action of this branch arrives only after its compensation. */
  readonly withheldBranch?: string
}

const MESSAGES = 0.08
const WITHHELD = 0.05
const SLOW_MS_MAX = 250
const ABORT_MS_MAX = 500
const DEADLINE_MS_MIN = 200
const DEADLINE_MS_MAX = 900
const CENTS_MAX = 10_000

interface Draw {
  readonly random: SeededRandom
  readonly bankUrls: readonly string[]
}

type Branch = PlannedBranch & {
  readonly mood: Mood
  readonly slowMs: number
  readonly after?: readonly string[]
}

/** The plan of one client: a transfer as a chain, a fan, or a message; a good part of them fail on the way. */
export function planTransaction(index: number, seed: number, draw: Draw): ClientPlan {
  const { random, bankUrls } = draw
  const gid = `chaos-${seed}-${index}`
  const isMessage = random.chance(MESSAGES)
  const isWithheld = !isMessage && random.chance(WITHHELD)
  const branches = isMessage ? chain(random, false) : isWithheld ? doomedFan(random) : ordinary(random)
  const kind = isMessage ? 'message' : 'saga'
  const asRequests = branches.map((branch): SagaBranchRequest => {
    const url = `${bankUrls[branch.bank]}/move`
    const payload: TransferPayload = pickPayload(branch)
    return {
      id: branch.id,
      action: url,
      payload: { ...payload },
      ...(isMessage
        ? {}
        : { compensation: url, ...(branch.after === undefined ? {} : { after: branch.after }) }),
    }
  })
  const hasDeadline = !isMessage && !isWithheld && random.chance(0.05)
  const request = {
    gid,
    kind,
    branches: asRequests,
    ...(hasDeadline ? { deadlineMs: random.between(DEADLINE_MS_MIN, DEADLINE_MS_MAX) } : {}),
  } as ClientPlan['request']
  return {
    transaction: { gid, kind, branches: branches.map(planned) },
    request: withSecrets(request),
    ...drawManners(random, isMessage),
    ...(isWithheld ? { withheldBranch: 'late' } : {}),
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

function ordinary(random: SeededRandom): readonly Branch[] {
  return random.chance(0.35) ? fan(random) : chain(random, true)
}

/** Money leaves one bank and comes to the other, or moves within one. */
function chain(random: SeededRandom, mayFail: boolean): readonly Branch[] {
  const cents = random.between(1, CENTS_MAX)
  return [
    branch(random, 'debit', -cents, mayFail),
    branch(random, 'credit', cents, mayFail),
    ...(random.chance(0.3) ? [branch(random, 'fee', -1, mayFail), branch(random, 'fee-in', 1, mayFail)] : []),
  ]
}

/** One debit, then credits side by side. */
function fan(random: SeededRandom): readonly Branch[] {
  const cents = random.between(1, CENTS_MAX)
  const after = ['debit']
  return [
    branch(random, 'debit', -2 * cents, true),
    { ...branch(random, 'credit-1', cents, true), after },
    { ...branch(random, 'credit-2', cents, true), after },
  ]
}

/** Two branches side by side: one refuses, while the other's action is still on its way. */
function doomedFan(random: SeededRandom): readonly Branch[] {
  const cents = random.between(1, CENTS_MAX)
  return [
    { ...branch(random, 'late', -cents, false), mood: 'sound', after: [] },
    { ...branch(random, 'refusing', cents, false), mood: 'refuses', after: [] },
  ]
}

function branch(random: SeededRandom, id: string, cents: number, mayFail: boolean): Branch {
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

function pickPayload({ account, cents, slowMs, mood }: Branch): TransferPayload {
  return { account, cents, slowMs, mood }
}

function planned({ id, bank, account, cents }: Branch): PlannedBranch {
  return { id, bank, account, cents }
}
