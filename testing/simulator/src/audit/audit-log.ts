import type { Gid } from '@counterstep/protocol'
import type { PreparedLog } from './prepared-log.ts'
import type { SagaLog } from './saga-log.ts'

/** The auditor's record of one transaction. */
export type Log = SagaLog | PreparedLog

/** The checks read what is known of a transaction here, and report each violation. */
export interface AuditLog {
  log(gid: Gid): Log
  /** `gid` may also name a node. */
  report(invariant: string, gid: string, text: string): void
}
