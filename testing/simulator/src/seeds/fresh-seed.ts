/** The number of seeds in one block. Runs of up to this many seeds that start in different seconds do not overlap. */
const BLOCK_SEEDS = 20_000
const BLOCKS = 200_000
const BLOCK_MS = 1_000

/** Returns the first seed of a run that was not given one. Each second has another block. */
export function freshSeed(nowMs: number): number {
  return 1 + (Math.floor(nowMs / BLOCK_MS) % BLOCKS) * BLOCK_SEEDS
}
