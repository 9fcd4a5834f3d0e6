import type { RouteAccess } from '@counterstep/access'
import { type ErrorCode, isFinalStatus, type TransactionView } from '@counterstep/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { takeCommandBody } from '../http/command-body.ts'
import { JSON_TYPE } from '../http/json-type.ts'

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

/** The command has a body, and an entry in the trail. */
export const OPERATOR_PROBLEMS = [
  ...COMMAND_PROBLEMS,
  'SAGA_MALFORMED_JSON',
  'SAGA_UNKNOWN_FIELD',
  'SAGA_NUMBER_NOT_EXACT',
  'SAGA_PLAN_CHANGED',
  'SAGA_TRAIL_FULL',
  'SAGA_COMMAND_CONFLICT',
] as const satisfies readonly ErrorCode[]

/** The command is about one op. */
export const OP_PROBLEMS = [
  ...OPERATOR_PROBLEMS,
  'SAGA_OP_UNKNOWN',
  'SAGA_OP_DONE',
  'SAGA_OP_NOT_DUE',
] as const satisfies readonly ErrorCode[]

export interface CommandRoute {
  readonly path: string
  readonly access: RouteAccess
  readonly handlerTimeoutMs: number
  /** The default is the size of a body without a payload. */
  readonly bodyBytesMax?: number
  run(request: FastifyRequest): Promise<TransactionView>
}

/** Adds the route of a command. It answers 200 with a final transaction, else 202. */
export async function answerCommand(app: FastifyInstance, command: CommandRoute): Promise<void> {
  takeCommandBody(app, command.bodyBytesMax)
  app.post(
    command.path,
    { config: { access: command.access }, handlerTimeout: command.handlerTimeoutMs },
    async function runCommand(request, reply) {
      const view = await command.run(request)
      reply.code(isFinalStatus(view.status) ? 200 : 202).header('content-type', JSON_TYPE)
      return reply.send(JSON.stringify(view))
    },
  )
}
