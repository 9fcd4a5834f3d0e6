/** Seeds that a run has for itself: 2^32 worlds are different, and nobody runs more of them at once. */
const BLOCK_SEEDS = 20_000
const BLOCKS = 200_000
const BLOCK_MS = 1_000

/** Where a run starts that was not told where: each second another block. */
export function freshSeed(nowMs: number): number {
  return 1 + (Math.floor(nowMs / BLOCK_MS) % BLOCKS) * BLOCK_SEEDS
}
