import type { XaTold } from '../clients/xa-client.ts'
import type { DtmView } from '../dtm-api.ts'
import type { DtmPlan } from '../plan.ts'
import type { RunNote } from '../service/run-note.ts'
import type { Effect } from '../service/tables.ts'

/** Everything that was seen in a run, and everything that is stored after it. */
export interface DtmEvidence {
  readonly plans: readonly DtmPlan[]
  readonly told: readonly XaTold[]
  readonly notes: readonly RunNote[]
  /** The servers' answers by gid: one when all has ended, and one after the replay of old requests. */
  readonly views: ReadonlyMap<string, readonly DtmView[]>
  readonly effects: readonly Effect[]
  /** The branches that XA RECOVER shows. */
  readonly prepared: readonly string[]
  /** The balances by account. */
  readonly balances: ReadonlyMap<number, number>
}
