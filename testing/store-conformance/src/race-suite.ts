import { runClaimRace } from './claim-race.ts'
import { RACE_PAIRS, runPairRace } from './pair-race.ts'
import { PAIR_RACES } from './pair-races.ts'
import { runPostponeRace } from './postpone-race.ts'
import { RaceFixture } from './race-fixture.ts'
import type { StorePlace } from './race-messages.ts'
import type { Runner } from './runner.ts'
import { assertNoPeerClock, SKEW_MS } from './skewed-clocks.ts'

export interface StoreRacesOptions {
  readonly runner: Pick<Runner, 'describe' | 'it' | 'after'>
  readonly name: string
  /** An empty place that only this suite uses. This process and two others open it. */
  readonly place: StorePlace
  /** The number of pairs in each race, a multiple of 50. Fewer are enough if the store runs all races with other settings. Default: 1,000. */
  readonly pairs?: number
  /** Gets a line with the measured values of each race. */
  readonly report: (line: string) => void
}

/** Defines the races of one shared store: two processes, each with connections of its own. */
export function storeRaces({ runner, name, place, pairs = RACE_PAIRS, report }: StoreRacesOptions): void {
  const { describe, it, after } = runner
  describe(`store races: ${name}`, () => {
    const fixture = new RaceFixture(place)
    after(() => fixture.close())
    it('Exactly one of two claims of one row is granted, and no row is left', async () => {
      report(await fixture.run((store, peers) => runClaimRace(store, peers, pairs)))
    })
    it('Exactly one of two processes that postpone or claim due rows gets each row, and no row is left', async () => {
      report(await fixture.run((store, peers) => runPostponeRace(store, peers, pairs)))
    })
    for (const race of PAIR_RACES) {
      it(`One of two wins in a race of ${race.title}, and both and the row say so`, async () => {
        report(await fixture.run((store, peers) => runPairRace(race, store, peers, pairs)))
      })
    }
    it('The clocks of the two processes do not matter to the store', async () => {
      const skewed = new RaceFixture(place, [-SKEW_MS, SKEW_MS])
      try {
        await skewed.run(assertNoPeerClock)
      } finally {
        await skewed.close()
      }
    })
  })
}
