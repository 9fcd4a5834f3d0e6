import type { StoreName } from '../settings.ts'
import type { Guard } from './service/bank-database.ts'

export interface ChaosSettings {
  readonly store: StoreName
  readonly sagas: number
  /** SIGKILLs of servers. */
  readonly kills: number
  /** SIGSTOPs of servers past their lease. */
  readonly pauses: number
  /** Answers to commits that are lost, where there is a network to the store. */
  readonly ambiguous: number
  readonly seed: number
  readonly guard: Guard
  /** All transactions of clients are workflows. */
  readonly onlyWorkflows: boolean
  /** The servers are apps that have Counterstep within them, and functions that call one bank. */
  readonly inApps: boolean
}
