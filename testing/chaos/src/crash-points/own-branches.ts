import type { InProcessBranch, InProcessServices } from '@counterstep/branch-http'
import { buildBank } from '@counterstep/example-bank'
import type { FastifyInstance } from 'fastify'
import { buildWorkflowApp } from './workflow-handler.ts'

/** The service that is in the node itself. Its paths follow this. */
export const OWN_BRANCHES = 'own:'

const BANK_PATHS = ['/debit', '/debit-undo', '/credit', '/credit-undo']

/**
 * Makes the routes of the bank and the handler of its workflows functions of this process, over the bank's own file. They die
 * with the node, so a kill may be within their database transaction.
 */
export function openOwnBranches(file: string): InProcessServices {
  const bank = buildBank({ path: file, accounts: [], durability: 'normal' })
  const workflows = buildWorkflowApp(file)
  const routes = [...BANK_PATHS.map((path) => [path, bank] as const), ['/workflows', workflows] as const]
  return { own: Object.fromEntries(routes.map(([path, app]) => [path, toBranch(app)])) }
}

function toBranch(app: FastifyInstance): InProcessBranch {
  return async ({ url, headers, payload }) => {
    const answer = await app.inject({ method: 'POST', url, headers, payload: payload as object })
    return { answer: { statusCode: answer.statusCode, body: answer.body } }
  }
}
