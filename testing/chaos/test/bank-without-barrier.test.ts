import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { forget, runCommand } from './bank-run.ts'

const SEED = 20_261_126
const RUN_MS_MAX = 120_000

it(
  'A run whose banks have no barrier ends with 1 and names what is wrong',
  async () => {
    const run = await runCommand(
      `--store sqlite --sagas 150 --kills 1 --pauses 0 --seed ${SEED} --without-barrier --json`,
    )
    const { exitCode, output, errors, result, keptFolder } = run
    expect(exitCode, errors).toBe(1)
    expect(output.trimEnd().split('\n')).toHaveLength(1)
    expect(result.doubled).toBeGreaterThanOrEqual(20)
    const named = new Set(result.violations.map(({ invariant }) => invariant))
    expect([...named]).toEqual(expect.arrayContaining(['I5']))
    expect(errors).toMatch(/^VIOLATION I\d+ .*chaos-/m)
    expect(existsSync(join(keptFolder ?? '', 'logs', 'server-0.log'))).toBe(true)
    await forget(run)
  },
  RUN_MS_MAX,
)
