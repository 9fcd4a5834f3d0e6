import type { RowPlan } from '../rounds.ts'

/** A row of transfers, with the database that they change. */
export interface TransferRow {
  readonly plan: RowPlan
  /** Throws unless what is stored is what so many answered transfers leave. Returns the counts. */
  audit(transfers: number): Promise<Readonly<Record<string, number>>>
}
