import assert from 'node:assert/strict'
import type { Store } from '@counterstep/core'
import { openStoreAt } from './open-store-at.ts'
import type { StorePlace } from './race-messages.ts'
import { RacePeers } from './race-peers.ts'

/** Two processes for all races at one place: their start takes longer than most races. */
export class RaceBed {
  readonly #place: StorePlace
  readonly #skewsMs: readonly [number, number]
  #peers: RacePeers | undefined

  constructor(place: StorePlace, skewsMs: readonly [number, number] = [0, 0]) {
    this.#place = place
    this.#skewsMs = skewsMs
  }

  /** The store given is this process's own: it prepares the rows and looks at them afterwards. */
  async run<T>(race: (store: Store, peers: RacePeers) => Promise<T>): Promise<T> {
    const store = await openStoreAt(this.#place)
    try {
      assert.ok(store.capabilities.shared)
      const peers = this.#peers ?? (await RacePeers.start(this.#place, this.#skewsMs))
      // Taken for the time of the race: one that its runner has given up may go on, and the next one gets others.
      this.#peers = undefined
      const result = await runOn(peers, () => race(store, peers))
      this.#peers = peers
      return result
    } finally {
      await store.close()
    }
  }

  async close(): Promise<void> {
    const peers = this.#peers
    this.#peers = undefined
    try {
      await peers?.close()
    } finally {
      peers?.kill()
    }
  }
}

/** After a failure they may be in the middle of calls. */
async function runOn<T>(peers: RacePeers, race: () => Promise<T>): Promise<T> {
  try {
    return await race()
  } catch (error: unknown) {
    peers.kill()
    throw error
  }
}
