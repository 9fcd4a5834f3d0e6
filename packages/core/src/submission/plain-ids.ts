import type { Fault, Gid } from '@counterstep/protocol'

const CAPITAL = /[A-Z]/

/**
 * Finds ids that DTM's own barriers in services could confuse with others. DTM's SQL table compares gids without case, so
 * `ORDER-1` and `order-1` share a row. Its Redis key joins gid, branch id and op by `-`, so gid `pay` with branch `1-01`
 * is the same as gid `pay-1` with branch `01`. Our own barriers compare bytes and keep the parts apart.
 */
export function findUnplainIds(
  gid: Gid | undefined,
  branches: readonly { readonly id: string }[],
): readonly Fault[] {
  const faults: Fault[] = []
  if (gid !== undefined && CAPITAL.test(gid)) {
    faults.push({ code: 'SAGA_GID_INVALID', path: '/gid', message: 'must not have capital letters here' })
  }
  for (const [position, { id }] of branches.entries()) {
    if (!id.includes('-')) continue
    const path = `/branches/${position}/id`
    faults.push({ code: 'SAGA_BRANCH_ID_INVALID', path, message: 'must not have a - here' })
  }
  return faults
}
