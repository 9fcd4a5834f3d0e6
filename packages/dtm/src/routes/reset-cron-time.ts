import { type EngineApi, nodeClock, ReadLimiter } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { CronTimeReset } from '../commands/reset-cron-time.ts'
import { TIMEOUT_TO_FAIL_S } from '../definition/common-definition.ts'
import { answerWith } from '../wire/answer.ts'
import { readNumber } from '../wire/read-number.ts'
import { BASE_PATH } from './base-path.ts'
import { readParameter } from './read-parameter.ts'
import { ADMIN_BY_GET } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'

const TIMEOUT_S = 3 * TIMEOUT_TO_FAIL_S
const LIMIT = 100

const ONE_AT_A_TIME = { atOnceMax: 1, waitingMax: 100, waitMs: 2_000, restFactor: 0, restMsMax: 0 }

export function addResetCronTimeRoute(app: FastifyInstance, engine: EngineApi): void {
  const reset = new CronTimeReset(engine)
  const calls = new ReadLimiter(nodeClock(), ONE_AT_A_TIME)
  app.get(`${BASE_PATH}/resetCronTime`, ADMIN_BY_GET, async (request, reply) => {
    const timeoutS = readNumber(readParameter(request, 'timeout'), TIMEOUT_S)
    const limit = readNumber(readParameter(request, 'limit'), LIMIT)
    const asked = { dueAfter: Date.now() + timeoutS * 1_000, limit }
    const { hasRemaining, count } = await calls.run(() => reset.run(asked))
    return sendAnswer(reply, answerWith({ has_remaining: hasRemaining, succeed_count: count }))
  })
}
