import type { EngineApi, SubmitOptions } from '@counterstep/engine'
import type { MessageContext } from '../definition/message-definition.ts'

/** The parts that a command needs to be carried out. */
export interface CommandDeps extends MessageContext {
  readonly engine: EngineApi
  /** Requests of different callers that name large transactions take turns. */
  readonly caller?: string
  /** Counts what a request has stored, for the quota of its key. */
  readonly takeBytes?: SubmitOptions['takeBytes']
  readonly trace?: SubmitOptions['trace']
  /** Returns a signal that aborts when the caller is gone. It is asked for where the answer waits. */
  readonly watchCaller?: () => AbortSignal
}
