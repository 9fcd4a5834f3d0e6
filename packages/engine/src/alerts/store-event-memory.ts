import type { RowGroup, StoreEvent } from '@counterstep/core'

/** These say that something acknowledged was lost, or may be. */
const TOLD: ReadonlySet<string> = new Set<StoreEvent['name']>(['store-class-lowered', 'store-tail-lost'])
/** An event is remembered for so long, and counted anew after it. */
const REMEMBERED_MS = 3_600_000

/** Remembers what the store has reported of itself, also before the engine is there. */
export class StoreEventMemory {
  readonly #readEpochMs: () => number
  readonly #events = new Map<StoreEvent['name'], RowGroup>()

  constructor(readEpochMs: () => number = Date.now) {
    this.#readEpochMs = readEpochMs
  }

  note({ name }: Pick<StoreEvent, 'name'>): void {
    if (!TOLD.has(name)) return
    const now = this.#readEpochMs()
    const known = this.#events.get(name)
    const isOld = known === undefined || now - known.since >= REMEMBERED_MS
    this.#events.set(name, isOld ? { count: 1, since: now } : { ...known, count: known.count + 1 })
  }

  list(): readonly (RowGroup & { readonly name: string })[] {
    return Array.from(this.#events, ([name, group]) => ({ name, ...group }))
  }
}
