/**
 * Returns a function that computes its result once for each object and remembers it as long as the object lives. The objects
 * must never change. A saga of 100 branches asks for the same results at each of its steps.
 */
export function computeOnce<Key extends object, Result extends number | object>(
  compute: (key: Key) => Result,
): (key: Key) => Result {
  const results = new WeakMap<Key, Result>()
  return (key) => {
    const known = results.get(key)
    if (known !== undefined) return known
    const result = compute(key)
    results.set(key, result)
    return result
  }
}
