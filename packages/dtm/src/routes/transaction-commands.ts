import type { Gate } from '@counterstep/access'
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
import { toKind } from '../wire/status-word.ts'
import { BASE_PATH } from './base-path.ts'
import { readCallerDeps } from './read-caller-deps.ts'
import { ADMIN, STORE_TRANSACTION, SUBMIT_OR_ADMIN } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'
import { takeBody } from './take-body.ts'

export type Command = (request: DtmRequest, deps: CommandDeps) => Promise<Answer>

/** Adds the commands whose body is a transaction. */
export function addCommandRoutes(
  app: FastifyInstance,
  deps: CommandDeps,
  gate: Gate,
  metrics: DialectMetrics,
): void {
  const route = (path: string, guarded: typeof ADMIN, command: Command) =>
    app.post(`${BASE_PATH}/${path}`, guarded, async (request, reply) => {
      const asked = { ...deps, ...readCallerDeps(path, gate, request, reply) }
      return sendAnswer(reply, await command(readRequest(takeBody(request)), asked))
    })
  route('prepare', STORE_TRANSACTION, prepare)
  route('submit', STORE_TRANSACTION, measureCommand(submit, metrics))
  route('abort', SUBMIT_OR_ADMIN, measureCommand(abort, metrics))
  route('forceStop', ADMIN, forceStop)
  route('resetNextCronTime', ADMIN, resetNextCronTime)
}

/** Counts the command's transactions. */
export function measureCommand(command: Command, metrics: DialectMetrics): Command {
  return async function measure(request, deps) {
    const startedAt = performance.now()
    let isOk = false
    try {
      const answer = await command(request, deps)
      isOk = answer.status === 200
      return answer
    } finally {
      // Only known types are counted, so that no client can create series at will.
      if (toKind(request.trans_type) !== undefined || request.trans_type === 'workflow')
        metrics.countTransaction(request.trans_type, isOk, (performance.now() - startedAt) / 1_000)
    }
  }
}
