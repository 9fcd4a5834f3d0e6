import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Op } from '@counterstep/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Accounts } from './accounts.ts'
import { type BankAnswer, failure, refusal, success } from './bank-answer.ts'
import { type BranchOrigin, readBranchOrigin } from './branch-query.ts'
import type { CallLog } from './call-log.ts'
import { inTransaction } from './in-transaction.ts'
import type { SqliteBarrier } from './sqlite-barrier.ts'
import { readTransferPayload } from './transfer-payload.ts'

/** Something between the wire and the bank, for tests: it may answer instead, before, after, or not at all. */
export type Intercept = (origin: BranchOrigin, handle: () => BankAnswer) => BankAnswer | Promise<BankAnswer>

export interface BranchRouteDeps {
  readonly database: DatabaseSync
  readonly accounts: Accounts
  readonly barrier: SqliteBarrier
  readonly callLog: CallLog
  readonly latencyMs: () => number
  readonly intercept: Intercept
}

interface Route {
  readonly path: string
  readonly ops: readonly Op[]
  /** What one cent of the payload does to the balance. */
  readonly sign: 1 | -1
}

const ROUTES: readonly Route[] = [
  { path: '/debit', ops: ['action', 'try'], sign: -1 },
  { path: '/debit-undo', ops: ['compensate', 'cancel'], sign: 1 },
  { path: '/credit', ops: ['action', 'try', 'msg'], sign: 1 },
  { path: '/credit-undo', ops: ['compensate', 'cancel'], sign: -1 },
]

export function addBranchRoutes(app: FastifyInstance, deps: BranchRouteDeps): void {
  const logged = loggedAnswer(deps)
  for (const route of ROUTES) {
    app.post(route.path, async (request, reply) => {
      const { statusCode, body } = await answerBranch(route, request, deps, logged)
      return reply.code(statusCode).type('application/json; charset=utf-8').send(body)
    })
  }
}

async function answerBranch(
  route: Route,
  request: FastifyRequest,
  deps: BranchRouteDeps,
  logged: LoggedAnswer,
): Promise<BankAnswer> {
  const origin = readBranchOrigin(request)
  if (origin === undefined) return refusal('NO_BRANCH_CALL', 'gid, branch_id and op must be in the query')
  if (!route.ops.includes(origin.op)) {
    return refusal('OP_MISMATCH', `${route.path} takes ${route.ops.join(', ')}`)
  }
  const payload = readTransferPayload(request.body)
  const delayMs = deps.latencyMs() + (payload?.slowMs ?? 0)
  if (delayMs > 0) await sleep(delayMs)
  return deps.intercept(origin, () =>
    logged(origin, () => {
      // It will be no better the next time: a definite no, so that the saga turns around.
      if (payload === undefined) return failure('PAYLOAD_INVALID', 'account and amountCents are needed')
      return deps.barrier(origin, () => {
        const account = deps.accounts.apply(origin, payload.account, route.sign * payload.amountCents)
        return success({ account: account.id, balanceCents: account.balanceCents })
      })
    }),
  )
}

type LoggedAnswer = (origin: BranchOrigin, answer: () => BankAnswer) => BankAnswer

type Outcome = { readonly answer: BankAnswer } | { readonly error: unknown }

/**
 * One commit for the effect, its barrier rows and the log. The barrier's part is a savepoint in it: a business failure
 * or a database error rolls that part back, and the log still tells of the call. An error is thrown on after the
 * commit, and becomes a 500: never a business failure.
 */
function loggedAnswer({ database, callLog }: BranchRouteDeps): LoggedAnswer {
  return (origin, answer) => {
    const outcome = inTransaction(database, () => {
      const found = outcomeOf(answer)
      if ('error' in found) callLog.record(origin, 500)
      else callLog.record(origin, found.answer.statusCode, found.answer.code)
      return found
    })
    if ('error' in outcome) throw outcome.error
    return outcome.answer
  }
}

function outcomeOf(answer: () => BankAnswer): Outcome {
  try {
    return { answer: answer() }
  } catch (error: unknown) {
    return { error }
  }
}
