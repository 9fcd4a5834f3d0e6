import type { EngineApi } from '@counterstep/engine'
import type { SubscribersOf } from '../definition/message-definition.ts'

/** What a command needs to be carried out. */
export interface CommandDeps {
  readonly engine: EngineApi
  readonly subscribersOf: SubscribersOf
}
