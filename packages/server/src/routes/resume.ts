import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { readCommandBody } from '../http/command-body.ts'
import { readGid } from '../http/read-gid.ts'
import { commandExample, finishedExample, retriedExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { answerCommand, OPERATOR_PROBLEMS } from './answer-command.ts'
import { describeCommandAnswers } from './command-answers.ts'
import { gidParameter } from './gid-parameter.ts'

export const resumeOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/resume',
  id: 'resumeTransaction',
  tag: 'transactions',
  access: ['operate', 'admin'],
  summary: 'End the pause of a transaction',
  parameters: [gidParameter],
  body: { schema: 'CommandRequest', required: false, examples: { reason: commandExample } },
  answers: describeCommandAnswers(finishedExample, retriedExample),
  problems: OPERATOR_PROBLEMS,
}

export function buildResumeRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addResumeRoute(app: FastifyInstance): Promise<void> {
    await answerCommand(app, {
      path: '/v1/transactions/:gid/resume',
      access: resumeOperation.access,
      handlerTimeoutMs,
      run: async (request) => engine.resume(readGid(request), readCommandBody(request).given),
    })
  }
}
