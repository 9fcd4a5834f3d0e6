import { CounterstepError, copyText, OPS, type Op } from '@counterstep/protocol'
import type { FastifyRequest } from 'fastify'

export interface NamedOp {
  readonly branchId: string
  readonly op: Op
}

/**
 * Reads the branch and the op of a path, which the router has percent-decoded. The branch is a copy, which does not keep the URL
 * in memory. Throws SAGA_OP_UNKNOWN.
 */
export function readOp(request: FastifyRequest): NamedOp {
  const { branchId = '', op: word } = request.params as Readonly<Record<string, string | undefined>>
  const op = OPS.find((each) => each === word)
  if (op !== undefined) return { branchId: copyText(branchId), op }
  throw new CounterstepError('SAGA_OP_UNKNOWN', `an op is one of ${OPS.join(', ')}`)
}
