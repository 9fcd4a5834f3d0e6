import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notThereYet } from '../wire/refuse-unsupported.ts'
import { BASE_PATH } from './base-path.ts'
import { READ, SUBMIT } from './route-access.ts'

export function routesNotThereYet(app: FastifyInstance): void {
  app.post(`${BASE_PATH}/prepareWorkflow`, { ...SUBMIT, onSend: sendPlainText }, () => {
    throw notThereYet('workflows are')
  })
  for (const path of ['scanKV', 'queryKV']) {
    app.get(`${BASE_PATH}/${path}`, READ, () => {
      throw notThereYet('the key-value routes are')
    })
  }
  app.post('/api/json-rpc', SUBMIT, () => {
    throw notThereYet('JSON-RPC is')
  })
}

/**
 * Every answer of the route in plain text, refusals for a missing key included. DTM's Go client looks at no status here:
 * it reads any JSON as the workflow's progress, finds no transaction in it, and panics in its user's process. Text that
 * is no JSON it returns as an error.
 */
async function sendPlainText(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  reply.header('content-type', 'text/plain; charset=utf-8')
  return typeof payload === 'string' ? `error: ${messageIn(payload)}` : payload
}

/** Answers of this app are objects with a message. */
function messageIn(body: string): string {
  if (!body.startsWith('{')) return body
  const { message }: { readonly message?: unknown } = JSON.parse(body)
  return String(message)
}
