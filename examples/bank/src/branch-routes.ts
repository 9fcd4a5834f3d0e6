import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Branch,
  BranchFailure,
  isBranchFailure,
  type JsonValue,
  type Op,
  parseBranch,
} from '@counterstep/sdk'
import type { SqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Accounts } from './accounts.ts'
import { type BankAnswer, failure, success } from './bank-answer.ts'
import type { CallLog } from './call-log.ts'
import type { Holds } from './holds.ts'
import { inTransaction } from './in-transaction.ts'

const SLOW_MS_MAX = 60_000
const AMOUNT_CENTS_MAX = 1_000_000_000_000

/**
 * Stands between the wire and the bank, for tests: it may answer instead of the bank, before it, after it, or not at
 * all.
 */
export type Intercept = (branch: Branch, handle: () => BankAnswer) => BankAnswer | Promise<BankAnswer>

export interface BranchRouteDeps {
  readonly database: DatabaseSync
  readonly accounts: Accounts
  readonly holds: Holds
  readonly barrier: SqliteBarrier<DatabaseSync>
  readonly callLog: CallLog
  readonly latencyMs: () => number
  readonly intercept: Intercept
}

/** Does the work of one route inside the barrier, and returns the answer to the call. */
type Work = (call: RouteCall, deps: BranchRouteDeps) => JsonValue

interface RouteCall {
  readonly branch: Branch
  /** The places of the path. */
  readonly places: Readonly<Record<string, string>>
  /** The answer of the action that this call undoes, as the barrier has stored it. */
  readonly original: JsonValue | undefined
}

interface Route {
  readonly path: string
  readonly ops: readonly Op[]
  readonly work: Work
}

const ROUTES: readonly Route[] = [
  { path: '/debit', ops: ['action', 'try'], work: moveMoney(-1) },
  { path: '/debit-undo', ops: ['compensate', 'cancel'], work: moveMoney(1) },
  { path: '/credit', ops: ['action', 'try'], work: moveMoney(1) },
  { path: '/credit-undo', ops: ['compensate', 'cancel'], work: moveMoney(-1) },
  { path: '/holds', ops: ['action'], work: holdMoney },
  { path: '/holds/:holdId/capture', ops: ['action'], work: captureHold },
  { path: '/holds/release', ops: ['compensate'], work: releaseHold },
]

/** Moves money on one account. The sign says how one cent of the payload changes its balance. */
function moveMoney(sign: 1 | -1): Work {
  return ({ branch }, { accounts }) => {
    const { account: id, amountCents } = requireTransferPayload(branch)
    const account = accounts.apply(branch, id, sign * amountCents)
    return { account: account.id, balanceCents: account.balanceCents }
  }
}

/** Takes the money from the account and keeps it aside, until the hold is captured or released. */
function holdMoney({ branch }: RouteCall, { accounts, holds }: BranchRouteDeps): JsonValue {
  const { account, amountCents } = requireTransferPayload(branch)
  accounts.apply(branch, account, -amountCents)
  return { holdId: holds.open(account, amountCents) }
}

function captureHold({ places }: RouteCall, { holds }: BranchRouteDeps): JsonValue {
  const { id, amountCents } = holds.capture(places.holdId ?? '')
  return { holdId: id, amountCents }
}

/** The id is what the action answered, so the orchestrator need not know it. */
function releaseHold({ branch, original }: RouteCall, { accounts, holds }: BranchRouteDeps): JsonValue {
  const { holdId } = original as { readonly holdId: string }
  const { accountId, amountCents } = holds.release(holdId)
  accounts.apply(branch, accountId, amountCents)
  return { holdId, released: true }
}

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
  const delayMs = deps.latencyMs() + (readTransferPayload(branch.payload)?.slowMs ?? 0)
  if (delayMs > 0) await sleep(delayMs)
  const places = request.params as RouteCall['places']
  return deps.intercept(branch, () => logged(branch, () => passBarrier(route, { branch, places }, deps)))
}

/** A failure is an answer here, since its call is logged; every other error is thrown on. */
function passBarrier({ work }: Route, call: Omit<RouteCall, 'original'>, deps: BranchRouteDeps): BankAnswer {
  try {
    const { decision, answer } = deps.barrier.runSync(call.branch, (_, original) =>
      work({ ...call, original }, deps),
    )
    if (decision === 'already-compensated') {
      const message = 'this call came after its compensation, or after a refusal of it that is kept'
      throw new BranchFailure(message, { code: 'ALREADY_COMPENSATED' })
    }
    // Only a null compensation has no answer of its own.
    return answer === undefined ? success({ nullCompensation: true }) : { statusCode: 200, body: answer }
  } catch (error: unknown) {
    if (!isBranchFailure(error)) throw error
    // Nothing undoes a pivot, so the rows of a null compensation hold back a late copy of it. Both passes are parts of one transaction.
    if (call.branch.hasNoUndo === true) {
      deps.barrier.runSync({ ...call.branch, op: 'compensate' }, () => undefined)
    }
    return failure(error)
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

interface TransferPayload {
  readonly account: string
  readonly amountCents: number
  /** For demonstrations and tests: the bank takes so long before it looks at the account. */
  readonly slowMs: number
}

/** The payload will be the same the next time. So a wrong one is a definite failure, and the saga is undone. */
function requireTransferPayload({ payload }: Branch): TransferPayload {
  const read = readTransferPayload(payload)
  if (read !== undefined) return read
  throw new BranchFailure('account and amountCents are needed', { code: 'PAYLOAD_INVALID' })
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
