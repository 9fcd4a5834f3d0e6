import { readCaller } from '@counterstep/access'
import type { EngineApi, ReadLimiter } from '@counterstep/engine'
import { isGid } from '@counterstep/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { listTransactions } from '../view/list-transactions.ts'
import { see } from '../view/see.ts'
import { shownBranches, shownTransaction } from '../view/shown-transaction.ts'
import { found, refuse } from '../wire/answer.ts'
import { readNumber } from '../wire/read-number.ts'
import { kindOf, statusesOf } from '../wire/status-word.ts'
import { BASE_PATH } from './base-path.ts'
import { queryOf } from './query-of.ts'
import { READ } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'

const LIST_LIMIT = 100

/** Answers that read many rows take their turn in `lists`. */
export function queryRoutes(app: FastifyInstance, engine: EngineApi, lists: ReadLimiter): void {
  app.get(`${BASE_PATH}/query`, READ, async (request, reply) => {
    const gid = queryOf(request, 'gid')
    if (gid === '') throw refuse('no gid specified')
    const seen = isGid(gid) ? await see(engine, gid, readCaller(request.raw)) : undefined
    const shown =
      seen === undefined
        ? { branches: [], transaction: null }
        : { branches: shownBranches(seen), transaction: shownTransaction(seen) }
    return sendAnswer(reply, found(shown))
  })
  app.get(`${BASE_PATH}/all`, READ, async (request, reply) => {
    const gid = queryOf(request, 'gid')
    const caller = readCaller(request.raw)
    const shown = gid === '' ? await all(engine, lists, request, caller) : await one(engine, gid, caller)
    return sendAnswer(reply, found(shown))
  })
}

async function one(engine: EngineApi, gid: string, caller: string) {
  const seen = isGid(gid) ? await see(engine, gid, caller) : undefined
  return { next_position: '', transactions: seen === undefined ? null : [shownTransaction(seen)] }
}

async function all(engine: EngineApi, lists: ReadLimiter, request: FastifyRequest, caller: string) {
  const limit = readNumber(queryOf(request, 'limit'), LIST_LIMIT)
  const createdFrom = readNumber(queryOf(request, 'createTimeStart'), 0)
  const createdTo = readNumber(queryOf(request, 'createTimeEnd'), 0)
  const statusText = queryOf(request, 'status')
  const typeText = queryOf(request, 'transType')
  const status = statusesOf(statusText)
  const kind = kindOf(typeText)
  // A word that no transaction can have.
  const isNone = (statusText !== '' && status.length === 0) || (typeText !== '' && kind === undefined)
  if (isNone) return { next_position: '', transactions: [] }
  const filter = {
    ...(statusText === '' ? {} : { status }),
    ...(kind === undefined ? {} : { kind }),
    ...(createdFrom > 0 ? { createdFrom } : {}),
    // DTM's end is inclusive.
    ...(createdTo > 0 ? { createdTo: createdTo + 1 } : {}),
  }
  const asked = { filter, position: queryOf(request, 'position'), limit, caller }
  const { position, transactions } = await lists.run(() => listTransactions(engine, asked), caller)
  return { next_position: position, transactions }
}
