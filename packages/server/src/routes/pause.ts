import type { EngineApi } from '@counterstep/engine'
import { InvalidRequestError } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { readCommandBody } from '../http/command-body.ts'
import { readGid } from '../http/read-gid.ts'
import { finishedExample, pausedExample, pauseRequestExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { answerCommand, OPERATOR_PROBLEMS } from './answer-command.ts'
import { describeCommandAnswers } from './command-answers.ts'
import { gidParameter } from './gid-parameter.ts'

/** An earlier instant is one in seconds, and the pause would be over before it began. It is in the year 2001. */
const PAUSE_END_MIN = 1_000_000_000_000
export const PAUSE_END_RULE = 'must be an instant in whole epoch milliseconds'

export function isPauseEnd(until: unknown): until is number {
  return typeof until === 'number' && Number.isSafeInteger(until) && until >= PAUSE_END_MIN
}

export const pauseOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/pause',
  id: 'pauseTransaction',
  tag: 'transactions',
  access: ['operate', 'admin'],
  summary: 'Let no call of a transaction start',
  description:
    'Calls in flight end and count. An abort and a submit are decided meanwhile, and their calls wait. What follows from the time, such as a deadline, is decided at the end of the pause.',
  parameters: [gidParameter],
  body: { schema: 'PauseRequest', required: false, examples: { until: pauseRequestExample } },
  answers: describeCommandAnswers(finishedExample, pausedExample),
  problems: OPERATOR_PROBLEMS,
}

export function buildPauseRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addPauseRoute(app: FastifyInstance): Promise<void> {
    await answerCommand(app, {
      path: '/v1/transactions/:gid/pause',
      access: pauseOperation.access,
      handlerTimeoutMs,
      async run(request) {
        const { given, own } = readCommandBody(request, ['until'])
        return engine.pause(readGid(request), readUntil(own.until), given)
      },
    })
  }
}

function readUntil(until: unknown): { readonly until?: number } {
  if (until === undefined) return {}
  if (isPauseEnd(until)) return { until }
  throw new InvalidRequestError([{ code: 'SAGA_INVALID', path: '/until', message: PAUSE_END_RULE }])
}
