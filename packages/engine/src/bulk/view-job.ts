import { type BulkJob, type BulkPart, countFates } from '@counterstep/core'
import type { BulkCountsView, BulkView } from '@counterstep/protocol'

const REFUSALS_MAX = 20

/** Shows a job. Its counts come from the fates of its list, so that they always add up. */
export function viewJob(job: BulkJob, parts?: readonly BulkPart[]): BulkView {
  const { lease: _, countedFrom: __, total: ___, ...shown } = job
  return { ...shown, ...(parts === undefined ? {} : { counts: viewCounts(parts) }) }
}

function viewCounts(parts: readonly BulkPart[]): BulkCountsView {
  const { refused, ...counts } = countFates(parts)
  const refusals = parts.flatMap(({ gids, codes }) =>
    Object.entries(codes).map(([position, code]) => ({ gid: gids[Number(position)] ?? '', code })),
  )
  return {
    ...counts,
    refused: refusals.length,
    refusedBy: refused as Record<string, number>,
    refusals: refusals.slice(0, REFUSALS_MAX),
  }
}
