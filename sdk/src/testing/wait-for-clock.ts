// These are taken when the module is loaded, because a test may replace the global ones by a clock of its own.
const { setImmediate } = globalThis

/** A replaced clock may stand still. */
const TURNS_MAX = 10_000

/** Resolves when the queue of microtasks is empty. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Resolves when the clock of the process has moved, so that code which reads it gets another time. */
export async function waitForClock(): Promise<void> {
  const before = Date.now()
  for (let turns = 0; turns < TURNS_MAX && Date.now() === before; turns++) await nextTurn()
}
