import { expect, it } from 'vitest'
import { runCommand } from './bank-run.ts'

const SEED = 20_261_125
const RUN_MS_MAX = 240_000

it(
  `A bank on sqlite loses nothing in 10 kills of its server (seed ${SEED})`,
  async () => {
    const { exitCode, output, result } = await runCommand(
      `--store sqlite --sagas 2000 --kills 10 --pauses 3 --seed ${SEED}`,
    )
    process.stdout.write(`${output}\n`)
    expect([exitCode, result.lost, result.doubled, result.stuck, result.other], output).toEqual([
      0, 0, 0, 0, 0,
    ])
    expect(result.ends.succeeded + result.ends.failed).toBeGreaterThanOrEqual(result.accepted)
  },
  RUN_MS_MAX,
)
