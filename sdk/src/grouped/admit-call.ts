import { computeRowInstants } from '@counterstep/protocol/barrier'
import type { UndoOfRefusal } from '../barrier/pass-barrier.ts'
import { assertNotExpired } from '../barrier/retention.ts'
import { toBarrierKey } from '../branch/barrier-key.ts'
import type { AdmittedCall } from './group-barrier.ts'

/** Checks one call before it waits for others. */
export function admitCall(call: UndoOfRefusal, retentionMs: number, now: number): AdmittedCall {
  assertNotExpired(call, retentionMs, now)
  const key = toBarrierKey(call)
  const branch = toBranchText(key.gid, key.branchId, key.barrierId)
  return { call, key, op: call.op, ...computeRowInstants(call.acceptedAt, now), branch }
}

/** No part has a control character in it, so no two keys give one text. */
export function toBranchText(gid: string, branchId: string, barrierId: string): string {
  return `${gid}\0${branchId}\0${barrierId}`
}
