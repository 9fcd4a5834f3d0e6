import type { RecordedStep, StatusWrite, StoredRow } from '../evidence.ts'

/** The rows that an auditor reads from the orchestrator's database, past the orchestrator. */
export interface StoreBooks {
  readonly rows: ReadonlyMap<string, StoredRow>
  /** Every write of a status in its order, where triggers could keep them. */
  readonly writes?: readonly StatusWrite[]
  /** When each step of a workflow was in its record first, where triggers could keep it. */
  readonly recordedSteps?: readonly RecordedStep[]
}

export function rowsByGid(rows: readonly StoredRow[]): ReadonlyMap<string, StoredRow> {
  return new Map(rows.map((row) => [row.gid, row]))
}
