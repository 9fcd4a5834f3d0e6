import { collectDefaultMetrics, Registry } from 'prom-client'

export type { Registry } from 'prom-client'

/** A registry of our own, never prom-client's global one, with the figures of this process. */
export function createRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}

/** Without the figures of the process: they are for whoever the process belongs to. */
export function createBareRegistry(): Registry {
  return new Registry()
}
