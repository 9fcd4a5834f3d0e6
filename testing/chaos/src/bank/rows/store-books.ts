import type { RecordedGrant, RecordedStep, StatusWrite, StoredRow } from '../evidence.ts'
import { listRecords, type RecordWrite } from './list-records.ts'

/** The rows that an auditor reads from the orchestrator's database, past the orchestrator. */
export interface StoreBooks {
  readonly rows: ReadonlyMap<string, StoredRow>
  /** Every write of a status in its order. */
  readonly writes: readonly StatusWrite[]
  /** When each step of a workflow was in its record first, and when each slot was granted. */
  readonly recordedSteps: readonly RecordedStep[]
  readonly recordedGrants: readonly RecordedGrant[]
}

/** Makes the books of the rows as they are, and of all writes in their order. */
export function toStoreBooks(
  rows: readonly StoredRow[],
  writes: readonly (StatusWrite & Pick<RecordWrite, 'at'> & Partial<RecordWrite>)[],
): StoreBooks {
  const byGid = new Map(rows.map((row) => [row.gid, row]))
  const ofWorkflows = writes.filter(({ gid }) => byGid.get(gid)?.kind === 'workflow')
  return {
    rows: byGid,
    writes: writes.map(({ gid, status, epoch }) => ({ gid, status, epoch })),
    ...listRecords(ofWorkflows),
  }
}
