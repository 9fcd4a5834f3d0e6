import { describeOwn } from '@counterstep/test-servers/vitest'
import { it } from 'vitest'
import { proveBank } from '../bank-run.ts'

const SEED = 20_261_127
const RUNS = [
  [
    'Three servers lose nothing and double nothing in 10 kills',
    '--sagas 2000 --kills 10 --pauses 5 --ambiguous 200',
  ],
  [
    'Three apps that have Counterstep within them, and functions that call a bank, lose nothing in 4 kills',
    '--in-apps --sagas 800 --kills 4 --pauses 2 --ambiguous 80',
  ],
] as const
/** A run takes some 100 s on a quiet machine, and several run at once. */
const RUN_MS_MAX = 600_000

describeOwn('mariadb', 'three servers on one store, each of them killed', () => {
  for (const [title, line] of RUNS) {
    it(`${title} (seed ${SEED})`, () => proveBank(`--store mysql --seed ${SEED} ${line}`), RUN_MS_MAX)
  }
})
