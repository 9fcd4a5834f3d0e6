import { it } from 'vitest'
import { proveBank } from './bank-run.ts'

const SEED = 20_261_125
/** This bound only tells stuck from slow. */
const RUN_MS_MAX = 1_200_000

const RUNS = [
  ['A bank on sqlite loses nothing in 2 kills of its server', '--sagas 400 --kills 2 --pauses 1'],
  [
    'A bank on sqlite, with Counterstep in an app whose functions call the bank, loses nothing in 2 kills of the app',
    '--in-apps --sagas 400 --kills 2 --pauses 1',
  ],
  [
    'A bank of workflows on sqlite forgets and doubles nothing in 10 kills of its server and 10 of the handlers within their plan calls',
    '--only-workflows --sagas 2000 --kills 10 --pauses 3',
  ],
] as const

for (const [title, line] of RUNS) {
  it(`${title} (seed ${SEED})`, () => proveBank(`--store sqlite --seed ${SEED} ${line}`), RUN_MS_MAX)
}
