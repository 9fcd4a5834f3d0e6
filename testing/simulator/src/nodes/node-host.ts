import type { RunSettings, StoredTransaction } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { Auditor } from '../audit/auditor.ts'
import type { Network } from '../branches/network.ts'
import type { SimClock } from '../world/clock.ts'
import type { EventOwner } from '../world/heap.ts'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { Answer, Reply } from './reply.ts'

/** The node as its parts see it. */
export interface NodeHost extends EventOwner {
  readonly name: string
  readonly world: World
  readonly auditor: Auditor
  readonly store: SimStore
  readonly network: Network
  readonly settings: RunSettings
  readonly clock: SimClock
  /** Reads the node's own monotonic clock, which has an origin of its own. */
  now(): number
  /** Reads the store's clock as far as this node can know it. The result is never later than the true time. */
  storeNow(row: StoredTransaction): number
  /** Forgets a run. `run` is compared by identity. */
  forget(run: object): void
  /** Answers a client, after the auditor has checked the answer. */
  reply(gid: Gid, answer: Answer, reply: Reply): void
}
