/**
 * Tells whether an `await` would wait for the value: a promise of any kind, or a query that runs only when it is
 * awaited.
 */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return 'then' in value && typeof value.then === 'function'
}
