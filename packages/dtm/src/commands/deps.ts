import type { EngineApi } from '@counterstep/engine'
import type { MessageContext } from '../definition/message-definition.ts'

/** What a command needs to be carried out. */
export interface CommandDeps extends MessageContext {
  readonly engine: EngineApi
}
