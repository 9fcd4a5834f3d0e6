import type { Gate } from '@counterstep/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CommandDeps } from '../commands/deps.ts'
import { prepareWorkflow } from '../commands/prepare-workflow.ts'
import { readRequest } from '../wire/read-request.ts'
import { BASE_PATH } from './base-path.ts'
import { readCallerDeps } from './read-caller-deps.ts'
import { STORE_TRANSACTION } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'
import { takeBody } from './take-body.ts'

const PATH = 'prepareWorkflow'

export function addPrepareWorkflowRoute(app: FastifyInstance, deps: CommandDeps, gate: Gate): void {
  const guarded = { ...STORE_TRANSACTION, onSend: sendErrorsAsText }
  app.post(`${BASE_PATH}/${PATH}`, guarded, async (request, reply) => {
    const asked = { ...deps, ...readCallerDeps(PATH, gate, request, reply) }
    return sendAnswer(reply, await prepareWorkflow(readRequest(takeBody(request)), asked))
  })
}

/**
 * Sends every error of the route as plain text, including a refusal for a missing key. DTM's Go client ignores the
 * status here: it reads any JSON as the workflow's progress, finds no transaction in it, and panics in its user's
 * process. It returns a text that is not JSON as an error.
 */
async function sendErrorsAsText(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (reply.statusCode === 200) return payload
  reply.header('content-type', 'text/plain; charset=utf-8')
  return typeof payload === 'string' ? `error: ${readMessage(payload)}` : payload
}

/** Returns the message of an answer. Each answer of this app that is JSON is an object with a message. */
function readMessage(body: string): string {
  if (!body.startsWith('{')) return body
  const { message }: { readonly message?: unknown } = JSON.parse(body)
  return String(message)
}
