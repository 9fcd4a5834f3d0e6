import type { BranchCaller, Clock, Ids, Store } from '@counterstep/core'
import type { EngineApi } from './engine-api.ts'
import type { EngineObserver } from './observer.ts'
import type { EngineSettings } from './settings.ts'

export interface EngineParts {
  readonly store: Store
  readonly branches: BranchCaller
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  readonly settings: EngineSettings
}

export interface Engine extends EngineApi {
  /** Starts the loops: recovery of what is due, lease renewal, purge. */
  start(): Promise<void>
}

export function createEngine(_parts: EngineParts): Engine {
  throw new Error('in the making')
}
