import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Branch, BranchFailure, isBranchFailure, type Op, parseBranch } from '@counterstep/sdk'
import type { SqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Accounts } from './accounts.ts'
import { type BankAnswer, failure, success } from './bank-answer.ts'
import type { CallLog } from './call-log.ts'
import { inTransaction } from './in-transaction.ts'

const SLOW_MS_MAX = 60_000
const AMOUNT_CENTS_MAX = 1_000_000_000_000

/** The JSON that all four routes take. */
interface TransferPayload {
  readonly account: string
  readonly amountCents: number
  /** For demonstrations and tests: the bank takes so long before it looks at the account. */
  readonly slowMs: number
}

/**
 * Stands between the wire and the bank, for tests: it may answer instead of the bank, before it, after it, or not at
 * all.
 */
export type Intercept = (branch: Branch, handle: () => BankAnswer) => BankAnswer | Promise<BankAnswer>

export interface BranchRouteDeps {
  readonly database: DatabaseSync
  readonly accounts: Accounts
  readonly barrier: SqliteBarrier<DatabaseSync>
  readonly callLog: CallLog
  readonly latencyMs: () => number
  readonly intercept: Intercept
}

interface Route {
  readonly path: string
  readonly ops: readonly Op[]
  /** How one cent of the payload changes the balance. */
  readonly sign: 1 | -1
}

const ROUTES: readonly Route[] = [
  { path: '/debit', ops: ['action', 'try'], sign: -1 },
  { path: '/debit-undo', ops: ['compensate', 'cancel'], sign: 1 },
  { path: '/credit', ops: ['action', 'try'], sign: 1 },
  { path: '/credit-undo', ops: ['compensate', 'cancel'], sign: -1 },
]

export function addBranchRoutes(app: FastifyInstance, deps: BranchRouteDeps): void {
  const logged = loggedAnswer(deps)
  for (const route of ROUTES) {
    app.post(route.path, async (request, reply) => {
      const { statusCode, body } = await answerCall(route, request, deps, logged)
      return reply.code(statusCode).type('application/json; charset=utf-8').send(body)
    })
  }
}

async function answerCall(
  route: Route,
  request: FastifyRequest,
  deps: BranchRouteDeps,
  logged: LoggedAnswer,
): Promise<BankAnswer> {
  const { originalUrl: url, headers } = request
  // A request that is no branch call throws here, and the app answers it with 400.
  const branch = parseBranch({ url, headers, payload: request.body })
  if (!route.ops.includes(branch.op)) {
    const message = `${route.path} serves ${route.ops.join(' and ')}`
    return failure({ code: 'BRANCH_OP_NOT_SERVED', message })
  }
  const payload = readTransferPayload(branch.payload)
  const delayMs = deps.latencyMs() + (payload?.slowMs ?? 0)
  if (delayMs > 0) await sleep(delayMs)
  return deps.intercept(branch, () => logged(branch, () => passBarrier(route, branch, payload, deps)))
}

/** A failure is an answer here, since its call is logged; every other error is thrown on. */
function passBarrier(
  { sign }: Route,
  branch: Branch,
  payload: TransferPayload | undefined,
  { barrier, accounts }: BranchRouteDeps,
): BankAnswer {
  try {
    // The payload will be the same the next time. So this is a definite failure, and the saga is undone.
    if (payload === undefined) {
      throw new BranchFailure('account and amountCents are needed', { code: 'PAYLOAD_INVALID' })
    }
    const { decision, answer } = barrier.runSync(branch, () => {
      const account = accounts.apply(branch, payload.account, sign * payload.amountCents)
      return { account: account.id, balanceCents: account.balanceCents }
    })
    if (decision === 'already-compensated') {
      throw new BranchFailure('this call came after its compensation', { code: 'ALREADY_COMPENSATED' })
    }
    // Only a null compensation has no answer of its own.
    return answer === undefined ? success({ nullCompensation: true }) : { statusCode: 200, body: answer }
  } catch (error: unknown) {
    if (isBranchFailure(error)) return failure(error)
    throw error
  }
}

type LoggedAnswer = (branch: Branch, answer: () => BankAnswer) => BankAnswer

type Outcome = { readonly answer: BankAnswer } | { readonly error: unknown }

/**
 * Commits the effect, its barrier rows and the log together. The barrier's part is a savepoint in it: a business
 * failure or a database error rolls that part back, and the log still records the call. An error is thrown on after
 * the commit, and becomes a 500: never a business failure.
 */
function loggedAnswer({ database, callLog }: BranchRouteDeps): LoggedAnswer {
  return (branch, answer) => {
    const outcome = inTransaction(database, () => {
      const found = catchOutcome(answer)
      if ('error' in found) callLog.record(branch, 500)
      else callLog.record(branch, found.answer.statusCode, found.answer.code)
      return found
    })
    if ('error' in outcome) throw outcome.error
    return outcome.answer
  }
}

function catchOutcome(answer: () => BankAnswer): Outcome {
  try {
    return { answer: answer() }
  } catch (error: unknown) {
    return { error }
  }
}

function readTransferPayload(body: unknown): TransferPayload | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const { account, amountCents, slowMs = 0 } = body as Readonly<Record<string, unknown>>
  if (typeof account !== 'string' || account.length < 1 || account.length > 64) return undefined
  if (!isWholeWithin(amountCents, 1, AMOUNT_CENTS_MAX) || !isWholeWithin(slowMs, 0, SLOW_MS_MAX))
    return undefined
  return { account, amountCents, slowMs }
}

function isWholeWithin(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
}
