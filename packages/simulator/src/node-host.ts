import type { Auditor } from './auditor.ts'
import type { EventOwner } from './heap.ts'
import type { Network } from './network.ts'
import type { SimStore } from './sim-store.ts'
import type { World } from './world.ts'

/** What a run sees of the node that it is on. `run` is compared by identity. */
export interface NodeHost extends EventOwner {
  readonly name: string
  readonly world: World
  readonly auditor: Auditor
  readonly store: SimStore
  readonly network: Network
  /** The node's own clock, which only goes forward from an origin of its own. */
  now(): number
  forget(run: object): void
}
