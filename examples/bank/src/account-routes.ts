import type { FastifyInstance } from 'fastify'
import type { Account, Accounts } from './accounts.ts'

const ACCOUNTS_LISTED_MAX = 1_000

/** Reading only: money moves through branch calls and nothing else. */
export function addAccountRoutes(app: FastifyInstance, name: string, accounts: Accounts): void {
  app.get('/health', () => ({ status: 'ok', name }))

  app.get<{ Params: { id: string } }>('/accounts/:id', (request, reply) => {
    const account = accounts.get(request.params.id)
    if (account === undefined) return reply.code(404).send({ code: 'ACCOUNT_UNKNOWN' })
    return reply.send(toView(account))
  })

  app.get('/accounts', (request) => {
    const { after } = request.query as Readonly<Record<string, unknown>>
    const items = accounts.list(typeof after === 'string' ? after : '', ACCOUNTS_LISTED_MAX)
    return { items: items.map(toView) }
  })
}

function toView({ id, balanceCents, isFrozen }: Account): Record<string, unknown> {
  return { id, balanceCents, frozen: isFrozen }
}
