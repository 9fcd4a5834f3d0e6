import { assert, type BranchCall, type CallKey, type Run } from '@counterstep/core'

/** The request that one op of one branch is. */
export function branchCall(run: Run, { branch, op }: CallKey, attempt: number): BranchCall {
  const { definition, gid, kind, createdAt, epoch } = run.transaction
  const target = definition.branches[branch]
  const url = op === 'action' ? target?.action : target?.compensation
  assert(target !== undefined && url !== undefined, 'a call without a target')
  return {
    gid,
    kind,
    branchId: target.id,
    op,
    attempt,
    epoch,
    acceptedAt: createdAt,
    url,
    body: target.body,
    contentType: target.contentType,
    headers: target.headers,
    timeoutMs: target.timeoutMs ?? definition.timeoutMs,
  }
}
