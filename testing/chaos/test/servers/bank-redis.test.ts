import { describeOwn } from '@counterstep/test-servers/vitest'
import { it } from 'vitest'
import { proveBank } from '../bank-run.ts'

const SEED = 20_261_127
/** A run takes some 100 s on a quiet machine, and several run at once. */
const RUN_MS_MAX = 600_000

describeOwn('redis', 'three servers on one store, each of them killed', () => {
  it(
    `Three servers lose nothing and double nothing in 10 kills (seed ${SEED})`,
    () => proveBank(`--store redis --sagas 2000 --kills 10 --pauses 5 --ambiguous 200 --seed ${SEED}`),
    RUN_MS_MAX,
  )
})
