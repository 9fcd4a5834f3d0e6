import { describeOwn } from '@counterstep/test-servers/vitest'
import { it } from 'vitest'
import { proveBank } from '../bank-run.ts'

const SEED = 20_261_127
/** A run takes some 100 s on a quiet machine, and several run at once. */
const RUN_MS_MAX = 600_000

describeOwn('postgres', 'three servers on one store, each of them killed', () => {
  it(
    `Three servers lose nothing and double nothing in 5 kills (seed ${SEED})`,
    () => proveBank(`--store postgres --sagas 1000 --kills 5 --pauses 3 --ambiguous 100 --seed ${SEED}`),
    RUN_MS_MAX,
  )
})
