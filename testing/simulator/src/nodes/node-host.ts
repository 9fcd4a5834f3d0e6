import type { RunSettings, StoredTransaction } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { Auditor } from '../audit/auditor.ts'
import type { Network } from '../branches/network.ts'
import type { SimClock } from '../world/clock.ts'
import type { EventOwner } from '../world/heap.ts'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { Answer, Reply } from './reply.ts'

/** What the parts of a node see of it. */
export interface NodeHost extends EventOwner {
  readonly name: string
  readonly world: World
  readonly auditor: Auditor
  readonly store: SimStore
  readonly network: Network
  readonly settings: RunSettings
  readonly clock: SimClock
  /** The node's own clock, which only goes forward from an origin of its own. */
  now(): number
  /** Now by the store's clock, as far as this node can know, and never later than it is. */
  storeNow(row: StoredTransaction): number
  /** `run` is compared by identity. */
  forget(run: object): void
  /** Says so to a client, under the auditor's eyes. */
  reply(gid: Gid, answer: Answer, reply: Reply): void
}
