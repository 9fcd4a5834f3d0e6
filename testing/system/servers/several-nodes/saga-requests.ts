import type { SagaBranchRequest, SubmitRequest } from '@counterstep/protocol'

export type NamedRequest = SubmitRequest & { readonly gid: string }

export function toBranchId(position: number): string {
  return String(position).padStart(2, '0')
}

/** A serial saga with branches 01, 02, …, all of one service. */
export function serialSaga(gid: string, service: string, branchCount: number, payload = gid): NamedRequest {
  const branches = Array.from(
    { length: branchCount },
    (_, index): SagaBranchRequest => ({
      id: toBranchId(index + 1),
      action: `${service}/do`,
      compensation: `${service}/undo`,
      payload,
    }),
  )
  return { gid, branches, retry: { initialMs: 50, capMs: 500 } }
}
