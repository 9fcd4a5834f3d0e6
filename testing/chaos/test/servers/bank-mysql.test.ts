import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { runCommand } from '../bank-run.ts'

const SEED = 20_261_127
/** A run takes some 100 s on a quiet machine, and several run at once. */
const RUN_MS_MAX = 600_000

describeOwn('mariadb', 'three servers on one store, each of them killed', () => {
  it(
    `Three servers lose nothing and double nothing in 10 kills (seed ${SEED})`,
    async () => {
      const { exitCode, output, result } = await runCommand(
        `--store mysql --sagas 2000 --kills 10 --pauses 5 --ambiguous 200 --seed ${SEED}`,
      )
      process.stdout.write(`${output}\n`)
      expect([exitCode, result.lost, result.doubled, result.stuck, result.other], output).toEqual([
        0, 0, 0, 0, 0,
      ])
      expect(result.ends.succeeded + result.ends.failed).toBeGreaterThanOrEqual(result.accepted)
    },
    RUN_MS_MAX,
  )
})
