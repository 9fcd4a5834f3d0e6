/** A run of the same seed and number sends the same requests: `FUZZ_SEED=… FUZZ_RUNS=… vitest run testing/chaos/test/fuzz`. */
export function fuzzSeed(): number {
  const given = process.env.FUZZ_SEED
  return given === undefined ? Date.now() % 2 ** 31 : Number(given)
}

/** How many requests, if no number is given. */
export function fuzzRuns(requests: number): number {
  const given = process.env.FUZZ_RUNS
  return given === undefined ? requests : Number(given)
}
