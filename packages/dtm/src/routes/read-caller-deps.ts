import { buildQuotaCheck, type Gate, readCaller, watchCaller } from '@counterstep/access'
import { toLane } from '@counterstep/engine'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CommandDeps } from '../commands/deps.ts'

/**
 * Returns the parts of a command that come from its request. The caller's commands take turns among themselves, so that no flood of
 * submits keeps out an abort.
 */
export function readCallerDeps(
  command: string,
  gate: Gate,
  request: FastifyRequest,
  reply: FastifyReply,
): Pick<CommandDeps, 'takeBytes' | 'caller' | 'trace' | 'watchCaller'> {
  const { traceparent, tracestate } = request.headers
  return {
    takeBytes: buildQuotaCheck(gate, request, reply),
    caller: toLane(readCaller(request.raw), command),
    trace: { traceparent, tracestate },
    watchCaller: () => watchCaller(reply),
  }
}
