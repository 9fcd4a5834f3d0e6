/** Reads the command line. */
import { parseArgs } from 'node:util'
import { freshSeed } from './seeds/fresh-seed.ts'
import { parseSeed, type Reduction, WHOLE } from './seeds/reduction.ts'

export interface Arguments {
  readonly first: number
  readonly seeds: number
  readonly mutant: string | undefined
  readonly trace: boolean
  readonly reduction: Reduction
  /** Whether the regressions, the seeds that once failed, run first. */
  readonly regressions: boolean
}

const SEEDS = 1_000

export function readArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string' },
      seed: { type: 'string' },
      mutant: { type: 'string' },
      trace: { type: 'boolean', default: false },
      only: { type: 'string' },
    },
  })
  if (values.only !== undefined) {
    const { seed, reduction } = parseSeed(values.only)
    return { first: seed, seeds: 1, mutant: values.mutant, trace: true, reduction, regressions: false }
  }
  const first = values.seed === undefined ? freshSeed(Date.now()) : Number(values.seed)
  const isOne = values.trace || (values.seed !== undefined && values.seeds === undefined)
  const seeds = Number(values.seeds ?? (isOne ? 1 : SEEDS))
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(seeds) || seeds < 1)
    throw new RangeError('--seed and --seeds are whole numbers, --seeds at least 1')
  const regressions = values.mutant === undefined && !isOne
  return { first, seeds, mutant: values.mutant, trace: values.trace, reduction: WHOLE, regressions }
}
