import type { AlertTargetRules } from '@counterstep/core'
import type { AlertFacts } from '@counterstep/protocol'
import type { StoreEventMemory } from './store-event-memory.ts'

/** Someone who is told, such as a channel of Slack. */
export interface AlertTarget extends AlertTargetRules {
  /** The service of the webhook. It stands in rows, lists and logs, where the webhook's own URL never does. */
  readonly service: string
  /** Writes the JSON text of a message. The same facts always make the same text. */
  writeBody(facts: AlertFacts): string
}

export interface AlertOptions {
  readonly failedShare: number
  readonly targets: readonly AlertTarget[]
  /** The host notes the events of the store in it. */
  readonly storeEvents: StoreEventMemory
}

export function listAlertServices({ targets }: AlertOptions): ReadonlySet<string> {
  return new Set(targets.map(({ service }) => service))
}
