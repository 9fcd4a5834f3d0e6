import type { StoreEvent } from '@counterstep/core'
import { Counter, type Registry } from 'prom-client'
import { createNameBound } from './event-names.ts'

const EVENT_NAMES_MAX = 50

/** Counts the events that a store reports, and passes each on. */
export function countStoreEvents(
  registry: Registry,
  onEvent?: (event: StoreEvent) => void,
): (event: StoreEvent) => void {
  const events = new Counter({
    name: 'counterstep_store_events_total',
    help: 'Events that the store reported.',
    labelNames: ['name'],
    registers: [registry],
  })
  const boundName = createNameBound(EVENT_NAMES_MAX)
  return function countStoreEvent(event) {
    events.inc({ name: boundName(event.name) })
    onEvent?.(event)
  }
}
