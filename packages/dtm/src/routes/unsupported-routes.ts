import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuseUnsupported } from '../wire/refuse-unsupported.ts'
import { BASE_PATH } from './base-path.ts'
import { SUBMIT } from './route-access.ts'

export function addUnsupportedRoutes(app: FastifyInstance): void {
  app.post(`${BASE_PATH}/prepareWorkflow`, { ...SUBMIT, onSend: sendPlainText }, () => {
    throw refuseUnsupported('workflows are')
  })
}

/**
 * Sends every answer of the route as plain text, including a refusal for a missing key. DTM's Go client ignores the
 * status here: it reads any JSON as the workflow's progress, finds no transaction in it, and panics in its user's
 * process. It returns a text that is not JSON as an error.
 */
async function sendPlainText(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  reply.header('content-type', 'text/plain; charset=utf-8')
  return typeof payload === 'string' ? `error: ${readMessage(payload)}` : payload
}

/** Returns the message of an answer. Each answer of this app that is JSON is an object with a message. */
function readMessage(body: string): string {
  if (!body.startsWith('{')) return body
  const { message }: { readonly message?: unknown } = JSON.parse(body)
  return String(message)
}
