import assert from 'node:assert/strict'
import type { Store } from '@counterstep/core'
import { openStoreAt } from './open-store-at.ts'
import type { StorePlace } from './race-messages.ts'
import { RacePeers } from './race-peers.ts'

/** Keeps two processes for all races at one place, because their start takes longer than most races. */
export class RaceFixture {
  readonly #place: StorePlace
  readonly #skewsMs: readonly [number, number]
  #peers: RacePeers | undefined

  constructor(place: StorePlace, skewsMs: readonly [number, number] = [0, 0]) {
    this.#place = place
    this.#skewsMs = skewsMs
  }

  /** Opens a store in this process too, which prepares the rows and reads them afterwards. */
  async run<T>(race: (store: Store, peers: RacePeers) => Promise<T>): Promise<T> {
    const store = await openStoreAt(this.#place)
    try {
      assert.ok(store.capabilities.shared)
      const peers = this.#peers ?? (await RacePeers.start(this.#place, this.#skewsMs))
      // The processes belong to this race while it runs. If the runner gives it up it may go on, and the next race gets others.
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

/** Kills the processes after a failure, since they may be in the middle of calls. */
async function runOn<T>(peers: RacePeers, race: () => Promise<T>): Promise<T> {
  try {
    return await race()
  } catch (error: unknown) {
    peers.kill()
    throw error
  }
}
