import { collectDefaultMetrics, Registry } from 'prom-client'

export type { Registry } from 'prom-client'

/** Makes a registry with the figures of this process. It is never prom-client's global one. */
export function createRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}

/** Makes a registry without the figures of the process, which are left to its owner. */
export function createBareRegistry(): Registry {
  return new Registry()
}

const underWay = new WeakMap<Registry, Promise<string>>()

/**
 * Reads all metrics as one page of text, which takes some milliseconds. Requests that come meanwhile share the page, so
 * that many callers cost no more than one.
 */
export function readMetrics(registry: Registry): Promise<string> {
  const shared = underWay.get(registry)
  if (shared !== undefined) return shared
  const page = registry.metrics().finally(() => underWay.delete(registry))
  underWay.set(registry, page)
  return page
}
