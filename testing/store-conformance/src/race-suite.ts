import { runClaimRace } from './claim-race.ts'
import { RACE_PAIRS, runPairRace } from './pair-race.ts'
import { PAIR_RACES } from './pair-races.ts'
import { runPostponeRace } from './postpone-race.ts'
import { RaceBed } from './race-fixture.ts'
import type { StorePlace } from './race-messages.ts'
import type { Runner } from './runner.ts'
import { provesNoPeerClock, SKEW_MS } from './skewed-clocks.ts'

export interface StoreRacesOptions {
  readonly runner: Pick<Runner, 'describe' | 'it' | 'after'>
  readonly name: string
  /** Opened in this process and in two others: an empty place that nobody else uses. */
  readonly place: StorePlace
  /** Of each race, a multiple of 50. Fewer suffice where a store is raced in full with other settings. Default 1,000. */
  readonly pairs?: number
  /** Told what each race measured. */
  readonly report: (line: string) => void
}

/** Defines the races of one shared store: two processes, each with connections of its own. */
export function storeRaces({ runner, name, place, pairs = RACE_PAIRS, report }: StoreRacesOptions): void {
  const { describe, it, after } = runner
  describe(`store races: ${name}`, () => {
    const bed = new RaceBed(place)
    after(() => bed.close())
    it('of two claims of one row one is granted, and no row is left', async () => {
      report(await bed.run((store, peers) => runClaimRace(store, peers, pairs)))
    })
    it('of two that postpone or claim what is due one has each row, and no row is left', async () => {
      report(await bed.run((store, peers) => runPostponeRace(store, peers, pairs)))
    })
    for (const race of PAIR_RACES) {
      it(`${race.title}: one wins, and both and the row say so`, async () => {
        report(await bed.run((store, peers) => runPairRace(race, store, peers, pairs)))
      })
    }
    it('the clocks of the processes do not count', async () => {
      const skewed = new RaceBed(place, [-SKEW_MS, SKEW_MS])
      try {
        await skewed.run(provesNoPeerClock)
      } finally {
        await skewed.close()
      }
    })
  })
}
