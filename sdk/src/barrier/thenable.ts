/** Whether an `await` would wait for it: a promise of whatever make, or a query that only runs when it is awaited. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return 'then' in value && typeof value.then === 'function'
}
