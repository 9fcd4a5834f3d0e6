/**
 * Finds the entry of a key or makes it. When there are `entriesMax` entries, a new one takes the place of the oldest.
 */
export function findOrMake<K, V>(
  entries: Map<K, V>,
  key: K,
  make: () => V,
  entriesMax = Number.POSITIVE_INFINITY,
): V {
  const known = entries.get(key)
  if (known !== undefined) return known
  const [oldest] = entries.size >= entriesMax ? entries.keys() : []
  if (oldest !== undefined) entries.delete(oldest)
  const made = make()
  entries.set(key, made)
  return made
}
