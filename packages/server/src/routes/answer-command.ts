import type { RouteAccess } from '@counterstep/access'
import { type ErrorCode, type Gid, isFinalStatus, type TransactionView } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import { takeNoBody } from '../http/no-body.ts'
import { readGid } from '../http/read-gid.ts'

export const COMMAND_PROBLEMS = [
  'SAGA_GID_INVALID',
  'SAGA_INVALID',
  'SAGA_BODY_TOO_LARGE',
  'SAGA_UNSUPPORTED_MEDIA_TYPE',
  'SAGA_UNKNOWN_GID',
  'SAGA_ALREADY_FINAL',
  'SAGA_CONTENDED',
  'SAGA_STORE_UNAVAILABLE',
  'SAGA_STORE_CLOSED',
] as const satisfies readonly ErrorCode[]

export interface CommandRoute {
  readonly path: string
  readonly access: RouteAccess
  readonly handlerTimeoutMs: number
  run(gid: Gid): Promise<TransactionView>
}

/** Adds the route of a command that takes no body. It answers 200 with a final transaction, else 202. */
export async function answerCommand(app: FastifyInstance, command: CommandRoute): Promise<void> {
  takeNoBody(app)
  app.post(
    command.path,
    { config: { access: command.access }, handlerTimeout: command.handlerTimeoutMs },
    async function runCommand(request, reply) {
      const view = await command.run(readGid(request))
      reply.code(isFinalStatus(view.status) ? 200 : 202).header('content-type', JSON_TYPE)
      return reply.send(JSON.stringify(view))
    },
  )
}
