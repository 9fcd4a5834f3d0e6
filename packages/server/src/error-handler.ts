import { OddRequestError } from '@counterstep/access'
import type { Logger } from '@counterstep/engine'
import {
  BODY_BYTES_MAX,
  type ErrorCode,
  type Fault,
  isCounterstepError,
  type Problem,
} from '@counterstep/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { drain } from './http/drain.ts'
import { buildProblem, toProblem } from './http/problem.ts'
import { sendProblem } from './http/send-problem.ts'

interface FrameworkProblem {
  readonly code: ErrorCode
  readonly detail: string
  readonly status?: number
  /** The path says where the fault is: it is the name of a header or a parameter, or "" for the body. */
  readonly path?: string
}

/** These problems stand for fastify's own refusals, whose texts are not passed on, since some quote the request. */
const FRAMEWORK_PROBLEMS: ReadonlyMap<string, FrameworkProblem> = new Map(
  Object.entries<FrameworkProblem>({
    FST_ERR_CTP_BODY_TOO_LARGE: {
      code: 'SAGA_BODY_TOO_LARGE',
      path: '',
      detail: `the body is too large: a submit may have ${BODY_BYTES_MAX} bytes`,
    },
    FST_ERR_CTP_INVALID_MEDIA_TYPE: {
      code: 'SAGA_UNSUPPORTED_MEDIA_TYPE',
      path: 'content-type',
      detail: 'the content type must be application/json',
    },
    FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
      code: 'SAGA_INVALID',
      path: 'content-length',
      status: 400,
      detail: 'the body is not as long as its content length says',
    },
    FST_ERR_BAD_URL: {
      code: 'SAGA_GID_INVALID',
      path: 'gid',
      detail: 'the path is not valid percent-encoding',
    },
    FST_ERR_MAX_PARAM_LENGTH: { code: 'SAGA_GID_INVALID', path: 'gid', detail: 'the gid is too long' },
    FST_ERR_HANDLER_TIMEOUT: {
      code: 'SAGA_STORE_UNAVAILABLE',
      detail: 'there was no answer in time; what was asked may still happen',
    },
  }),
)

export type ErrorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void

/** Answers every error as a problem. An error without a known code becomes a 500 that shows nothing of the server. */
export function buildErrorHandler(logger: Logger): ErrorHandler {
  return function handleError(error, request, reply) {
    const problem = findProblem(error)
    if (problem?.code === 'SAGA_BODY_TOO_LARGE') {
      drain(request.raw, () => sendProblem(reply, problem))
    } else if (problem !== undefined && problem.status !== 500) {
      sendProblem(reply, problem)
    } else {
      const { method, routeOptions } = request
      logger.error({ err: error, requestId: request.id, method, route: routeOptions?.url }, 'request failed')
      reply.header('counterstep-request-id', request.id)
      sendProblem(reply, buildProblem('SAGA_INTERNAL', { detail: 'an internal error; it was logged' }))
    }
  }
}

function findProblem(error: unknown): Problem | undefined {
  if (isCounterstepError(error)) return toProblem(error)
  if (error instanceof OddRequestError)
    return buildProblem('SAGA_INVALID', { status: error.statusCode, detail: error.message })
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') {
    const known = FRAMEWORK_PROBLEMS.get(error.code)
    if (known !== undefined) return buildProblem(known.code, { ...known, ...toFaults(known) })
  }
  return toClientProblem(error)
}

function toFaults({ code, path, detail }: FrameworkProblem): { faults?: readonly Fault[] } {
  return path === undefined ? {} : { faults: [{ code, path, message: detail }] }
}

/** Builds the problem for a body that broke off, or for a refusal of fastify that the table above does not have. */
function toClientProblem(error: Error): Problem | undefined {
  const status = 'statusCode' in error ? error.statusCode : undefined
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined
  return buildProblem('SAGA_INVALID', { status, detail: 'the request could not be read' })
}
