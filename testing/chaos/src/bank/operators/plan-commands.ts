import type { OperatorCommand, SagaSubmitRequest } from '@counterstep/protocol'
import { canary } from '@counterstep/test-servers/canary'
import { withSecrets } from '@counterstep/test-servers/with-secrets'
import { type DrawnBranch, drawBranch, drawCents, toPayload, toPlanned } from '../clients/draw-branch.ts'
import type { ClientPlan } from '../clients/plan-transaction.ts'
import { LEASE_MS } from '../processes/server-flags.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { MENDED_HEADER } from '../service/transfer-payload.ts'

/** The branch that never succeeds by itself. */
export const CLERK = 'clerk'
/** A node that runs the transaction has learned of a pause by then, or its lease has ended. */
export const PAUSE_SETTLES_MS = 1.5 * LEASE_MS
/** A branch that is not paused is called some times in it. */
const PAUSE_MS = PAUSE_SETTLES_MS + 3_000
const TIMEOUT_MS = 1_400
const RETRIES_MAX = 3
const START_MS_MAX = 15_000
const CONFIRM = { confirm: 'no-call-took-effect' } as const

/** One command of an operator. It is sent under one id until it has an answer. */
export interface PlannedCommand {
  readonly command: OperatorCommand
  /** The URL behind that of the transaction. */
  readonly path: string
  readonly body: { readonly commandId: string; readonly reason: string }
  readonly op?: { readonly branchId: string; readonly op: 'action' | 'compensate' }
  readonly afterMs?: number
  /** It is sent once more after its answer. */
  readonly isRepeated: boolean
  /** The transaction may have ended without it. */
  readonly mayComeTooLate?: true
}

export interface OperatedPlan {
  readonly plan: ClientPlan
  /** The operator comes so long after the accept. */
  readonly startAfterMs: number
  readonly commands: readonly PlannedCommand[]
}

type End = 'skip-service' | 'skip-hand' | 'edit' | 'abort'
const ENDS: readonly End[] = ['skip-service', 'skip-hand', 'edit', 'abort']

/**
 * The plan of a transfer that waits for an operator. One of its branches answers 500 until it is skipped, or until an edit
 * gives it the header that mends it. It has no effect before that, so it is known what a skip stands for. So each command
 * before the last meets an unfinished transaction, and a last one that were lost would leave it stuck.
 */
export function planOperated(
  index: number,
  seed: number,
  random: SeededRandom,
  bankUrls: readonly string[],
): OperatedPlan {
  const gid = `chaos-${seed}-operated-${index}`
  const end = ENDS[index % ENDS.length] ?? 'edit'
  const moves = drawMoves(random, end)
  const request: SagaSubmitRequest & { readonly gid: string } = {
    gid,
    kind: 'saga',
    branches: moves.map((move) => {
      const url = `${bankUrls[move.bank]}/move`
      return { id: move.id, action: url, compensation: url, payload: { ...toPayload(move) } }
    }),
  }
  // A clerk that is skipped has no effect.
  const planned = moves.filter(({ id }) => id !== CLERK || end === 'edit').map(toPlanned)
  return {
    plan: {
      transaction: { gid, kind: 'saga', branches: planned },
      request: withSecrets(request),
      after: 'leave',
      abortAfterMs: 0,
      again: 'nothing',
      givesUp: false,
    },
    startAfterMs: random.between(0, START_MS_MAX),
    commands: drawCommands(random, gid, end),
  }
}

function drawMoves(random: SeededRandom, end: End): readonly DrawnBranch[] {
  const cents = drawCents(random)
  const share = end === 'edit' ? cents : 0
  const clerk = { ...drawBranch(random, CLERK, share, false), mood: 'dead' } as const
  return [
    drawBranch(random, 'debit', -cents - share, false),
    clerk,
    // Some of them turn around behind the clerk.
    drawBranch(random, 'credit', cents, true),
  ].map((move) => (move.id === 'credit' && random.chance(0.3) ? { ...move, mood: 'refuses' } : move))
}

/** First some commands that change no end, in any order, then the one that the transaction waits for. */
function drawCommands(random: SeededRandom, gid: string, end: End): readonly PlannedCommand[] {
  let number = 0
  const give = (command: OperatorCommand, path: string, more: object = {}): PlannedCommand => {
    number += 1
    const commandId = `${gid}-${number}`
    const reason = `${command} by the chaos run`
    return { command, path, body: { commandId, reason, ...more }, isRepeated: random.chance(0.4) }
  }
  const giveOp = (command: 'retry-op' | 'skip' | 'edit', op: 'action' | 'compensate', more: object = {}) => {
    const verb = command === 'retry-op' ? 'retry' : command
    const given = give(command, `/ops/${CLERK}/${op}/${verb}`, more)
    return { ...given, op: { branchId: CLERK, op } }
  }
  const groups = random.shuffled([
    Array.from({ length: random.between(1, RETRIES_MAX) }, () => give('retry', '/retry')),
    random.chance(0.5) ? [giveOp('retry-op', 'action')] : [],
    random.chance(0.5) ? [giveOp('edit', 'action', { timeoutMs: TIMEOUT_MS })] : [],
    random.chance(0.4) ? [give('pause', '/pause'), { ...give('resume', '/resume'), afterMs: PAUSE_MS }] : [],
  ])
  return [...groups.flat(), ...drawEnd(end, give, giveOp)]
}

function drawEnd(
  end: End,
  give: (command: OperatorCommand, path: string) => PlannedCommand,
  giveOp: (command: 'skip' | 'edit', op: 'action' | 'compensate', more: object) => PlannedCommand,
): readonly PlannedCommand[] {
  switch (end) {
    case 'skip-service':
      return [giveOp('skip', 'action', { doneBy: 'service' })]
    case 'skip-hand':
      return [
        giveOp('skip', 'action', { doneBy: 'hand', ...CONFIRM }),
        // If the saga turns around, its compensation waits for hands, too.
        { ...giveOp('skip', 'compensate', { doneBy: 'hand', ...CONFIRM }), mayComeTooLate: true },
      ]
    case 'edit': {
      const headers = { [MENDED_HEADER]: 'yes', 'x-branch-secret': canary('header-of-branch') }
      return [giveOp('edit', 'action', { headers })]
    }
    case 'abort':
      return [give('abort', '/abort')]
  }
}
