import { readCaller } from '@counterstep/access'
import type { EngineApi, ReadLimiter } from '@counterstep/engine'
import { isGid } from '@counterstep/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { listTransactions } from '../view/list-transactions.ts'
import { showBranches, showTransaction } from '../view/show-transaction.ts'
import { type Answer, answerWith, refuse } from '../wire/answer.ts'
import { readNumber } from '../wire/read-number.ts'
import { toKind, toStatuses } from '../wire/status-word.ts'
import { BASE_PATH } from './base-path.ts'
import { readParameter } from './read-parameter.ts'
import { READ } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'

const LIST_LIMIT = 100

/** Adds the routes that show transactions. Answers that read many rows wait for their turn in `lists`. */
export function addQueryRoutes(app: FastifyInstance, engine: EngineApi, lists: ReadLimiter): void {
  app.get(`${BASE_PATH}/query`, READ, async (request, reply) => {
    const gid = readParameter(request, 'gid')
    if (gid === '') throw refuse('no gid specified')
    const seen = isGid(gid) ? await engine.showWhole(gid, readCaller(request.raw)) : undefined
    const shown =
      seen === undefined
        ? { branches: [], transaction: null }
        : { branches: showBranches(seen), transaction: showTransaction(seen) }
    return sendAnswer(reply, answerWith(shown))
  })
  app.get(`${BASE_PATH}/all`, READ, async (request, reply) => {
    const gid = readParameter(request, 'gid')
    const caller = readCaller(request.raw)
    const answer =
      gid === '' ? await showPage(engine, lists, request, caller) : await showOne(engine, gid, caller)
    return sendAnswer(reply, answer)
  })
}

async function showOne(engine: EngineApi, gid: string, caller: string): Promise<Answer> {
  const seen = isGid(gid) ? await engine.showWhole(gid, caller) : undefined
  const transactions = seen === undefined ? null : [showTransaction(seen)]
  return answerWith({ next_position: '', transactions })
}

async function showPage(
  engine: EngineApi,
  lists: ReadLimiter,
  request: FastifyRequest,
  caller: string,
): Promise<Answer> {
  const limit = readNumber(readParameter(request, 'limit'), LIST_LIMIT)
  const createdFrom = readNumber(readParameter(request, 'createTimeStart'), 0)
  const createdTo = readNumber(readParameter(request, 'createTimeEnd'), 0)
  const statusText = readParameter(request, 'status')
  const typeText = readParameter(request, 'transType')
  const status = toStatuses(statusText)
  const kind = typeText === 'workflow' ? ('recorded' as const) : toKind(typeText)
  const isUnknownStatus = statusText !== '' && status.length === 0
  const isUnknownType = typeText !== '' && kind === undefined
  if (isUnknownStatus || isUnknownType) return answerPage('', [])
  const filter = {
    ...(statusText === '' ? {} : { status }),
    ...(kind === undefined ? {} : { kind }),
    ...(createdFrom > 0 ? { createdFrom } : {}),
    // In DTM the end belongs to the span.
    ...(createdTo > 0 ? { createdTo: createdTo + 1 } : {}),
  }
  const asked = { filter, position: readParameter(request, 'position'), limit, caller }
  const { position, transactions } = await lists.run(() => listTransactions(engine, asked), caller)
  return answerPage(position, transactions)
}

/** The transactions are JSON already. */
function answerPage(position: string, transactions: readonly string[]): Answer {
  return { status: 200, body: `{"next_position":"${position}","transactions":[${transactions.join()}]}` }
}
