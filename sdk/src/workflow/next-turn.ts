// It is taken when the module is loaded, because a test may replace the global one by a clock of its own.
const { setImmediate } = globalThis

/** Resolves when the queue of microtasks is empty. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
