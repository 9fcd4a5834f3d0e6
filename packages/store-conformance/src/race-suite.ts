import assert from 'node:assert/strict'
import type { Store } from '@counterstep/core'
import { runClaimRace } from './claim-race.ts'
import { openStoreAt } from './open-store-at.ts'
import { runPairRace } from './pair-race.ts'
import { PAIR_RACES } from './pair-races.ts'
import { runPostponeRace } from './postpone-race.ts'
import type { StorePlace } from './race-messages.ts'
import { RacePeers } from './race-peers.ts'
import type { Runner } from './runner.ts'
import { provesNoPeerClock, SKEW_MS } from './skewed-clocks.ts'

export interface StoreRacesOptions {
  readonly runner: Pick<Runner, 'describe' | 'it'>
  readonly name: string
  /** Opened in this process and in two others: an empty place that nobody else uses. */
  readonly place: StorePlace
  /** Told what each race measured. */
  readonly report: (line: string) => void
}

/** Defines the races of one shared store: two processes, each with connections of its own. */
export function storeRaces({ runner, name, place, report }: StoreRacesOptions): void {
  const { describe, it } = runner
  describe(`store races: ${name}`, () => {
    it('of two claims of one row one is granted, and no row is left', async () => {
      report(await withPeers(place, [0, 0], runClaimRace))
    })
    it('of two that postpone or claim what is due one has each row, and no row is left', async () => {
      report(await withPeers(place, [0, 0], runPostponeRace))
    })
    for (const race of PAIR_RACES) {
      it(`${race.title}: one wins, and both and the row say so`, async () => {
        report(await withPeers(place, [0, 0], (store, peers) => runPairRace(race, store, peers)))
      })
    }
    it('the clocks of the processes do not count', async () => {
      await withPeers(place, [-SKEW_MS, SKEW_MS], provesNoPeerClock)
    })
  })
}

/** The store given is this process's own: it prepares the rows and looks at them afterwards. */
async function withPeers<T>(
  place: StorePlace,
  skewsMs: readonly [number, number],
  race: (store: Store, peers: RacePeers) => Promise<T>,
): Promise<T> {
  const store = await openStoreAt(place)
  try {
    assert.ok(store.capabilities.shared)
    const peers = await RacePeers.start(place, skewsMs)
    try {
      const result = await race(store, peers)
      await peers.close()
      return result
    } finally {
      peers.kill()
    }
  } finally {
    await store.close()
  }
}
