import type { StoreName } from '../settings.ts'
import type { DtmViolation } from './audit/violation.ts'
import type { PlantedFault } from './service/planted-fault.ts'

export interface DtmSettings {
  readonly store: StoreName
  readonly transactions: number
  /** SIGKILLs of servers, and as many of the participants. */
  readonly kills: number
  readonly seed: number
  readonly fault: PlantedFault
}

export interface DtmKills {
  servers: number
  /** The participants' process, at the point that was ordered. */
  atPoint: number
  /** The same, at any point. */
  anywhere: number
}

export interface DtmEnds {
  readonly succeeded: number
  readonly failed: number
  /** Those that the store does not have, or that have not ended. */
  readonly other: number
}

/** The result of a run: its work, the faults that bit, and the violations. */
export interface DtmResult {
  readonly settings: DtmSettings
  readonly tookMs: number
  /** The time from the last fault to the last end. */
  readonly healedMs: number
  readonly acknowledged: number
  readonly xa: DtmEnds
  readonly recorded: DtmEnds
  readonly kills: DtmKills
  readonly answersLost: number
  readonly requestsDoubled: number
  readonly requestsLate: number
  readonly requestsLost: number
  readonly requestsReplayed: number
  readonly violations: readonly DtmViolation[]
  /** Things that did not happen: such a run proves little. */
  readonly unbitten: readonly string[]
}
