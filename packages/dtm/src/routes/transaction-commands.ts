import { buildQuotaCheck, type Gate } from '@counterstep/access'
import type { FastifyInstance } from 'fastify'
import { abort } from '../commands/abort.ts'
import type { CommandDeps } from '../commands/deps.ts'
import { forceStop } from '../commands/force-stop.ts'
import { prepare } from '../commands/prepare.ts'
import { resetNextCronTime } from '../commands/reset-next-cron-time.ts'
import { submit } from '../commands/submit.ts'
import type { DialectMetrics } from '../metrics/dialect-metrics.ts'
import type { Answer } from '../wire/answer.ts'
import { type DtmRequest, readRequest } from '../wire/read-request.ts'
import { kindOf } from '../wire/status-word.ts'
import { BASE_PATH } from './base-path.ts'
import { bodyOf } from './body-of.ts'
import { ADMIN, STORE_TRANSACTION, SUBMIT_OR_ADMIN } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'

type Command = (request: DtmRequest, deps: CommandDeps) => Promise<Answer>

/** The commands that have the same body: a transaction. */
export function transactionCommands(
  app: FastifyInstance,
  deps: CommandDeps,
  gate: Gate,
  metrics: DialectMetrics,
): void {
  const route = (path: string, guarded: typeof ADMIN, command: Command) =>
    app.post(`${BASE_PATH}/${path}`, guarded, async (request, reply) => {
      const takeBytes = buildQuotaCheck(gate, request, reply)
      return sendAnswer(reply, await command(readRequest(bodyOf(request)), { ...deps, takeBytes }))
    })
  route('prepare', STORE_TRANSACTION, prepare)
  route('submit', STORE_TRANSACTION, measured(submit, metrics))
  route('abort', SUBMIT_OR_ADMIN, measured(abort, metrics))
  route('forceStop', ADMIN, forceStop)
  route('resetNextCronTime', ADMIN, resetNextCronTime)
}

function measured(command: Command, metrics: DialectMetrics): Command {
  return async function measure(request, deps) {
    const startedAt = performance.now()
    let isOk = false
    try {
      const answer = await command(request, deps)
      isOk = answer.status === 200
      return answer
    } finally {
      // Only of known types, so that no client can make series.
      if (kindOf(request.trans_type) !== undefined)
        metrics.handled(request.trans_type, isOk, (performance.now() - startedAt) / 1_000)
    }
  }
}
