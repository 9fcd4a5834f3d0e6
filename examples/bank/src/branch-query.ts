import {
  type BranchId,
  type Gid,
  isBranchId,
  isGid,
  OPS,
  type Op,
  readCallIdentity,
} from '@counterstep/protocol'
import type { FastifyRequest } from 'fastify'

/** Who calls: the four query parameters and the headers that come with every branch call. */
export interface BranchOrigin {
  readonly gid: Gid
  readonly branchId: BranchId
  readonly op: Op
  /** 0 where the header is missing, as with another orchestrator. */
  readonly attempt: number
  readonly epoch: number
}

export function readBranchOrigin(request: FastifyRequest): BranchOrigin | undefined {
  // From the URL as it came: parsers of queries differ, and a caller's own parameters could pass for these.
  const identity = readCallIdentity(request.originalUrl)
  if ('fault' in identity) return undefined
  const { gid, branch_id: branchId, op } = identity
  if (!isGid(gid) || !isBranchId(branchId) || !isOp(op)) return undefined
  return {
    gid,
    branchId,
    op,
    attempt: readCount(request.headers['counterstep-attempt']),
    epoch: readCount(request.headers['counterstep-epoch']),
  }
}

function isOp(value: unknown): value is Op {
  return OPS.some((op) => op === value)
}

function readCount(header: string | string[] | undefined): number {
  return typeof header === 'string' && /^\d{1,9}$/.test(header) ? Number(header) : 0
}
