import { type EngineApi, nodeClock, ReadLimiter } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { CronTimeReset } from '../commands/reset-cron-time.ts'
import { TIMEOUT_TO_FAIL_S } from '../definition/common-definition.ts'
import { found } from '../wire/answer.ts'
import { readNumber } from '../wire/read-number.ts'
import { BASE_PATH } from './base-path.ts'
import { queryOf } from './query-of.ts'
import { ADMIN_BY_GET } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'

const TIMEOUT_S = 3 * TIMEOUT_TO_FAIL_S
const LIMIT = 100

const ONE_AT_A_TIME = { atOnceMax: 1, waitingMax: 100, waitMs: 2_000, restFactor: 0, restMsMax: 0 }

export function resetCronTimeRoute(app: FastifyInstance, engine: EngineApi): void {
  const reset = new CronTimeReset(engine)
  const calls = new ReadLimiter(nodeClock(), ONE_AT_A_TIME)
  app.get(`${BASE_PATH}/resetCronTime`, ADMIN_BY_GET, async (request, reply) => {
    const timeoutS = readNumber(queryOf(request, 'timeout'), TIMEOUT_S)
    const limit = readNumber(queryOf(request, 'limit'), LIMIT)
    const asked = { dueAfter: Date.now() + timeoutS * 1_000, limit }
    const { hasRemaining, count } = await calls.run(() => reset.run(asked))
    return sendAnswer(reply, found({ has_remaining: hasRemaining, succeed_count: count }))
  })
}
