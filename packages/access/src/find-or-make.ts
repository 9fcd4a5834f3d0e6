/** Finds the entry of a name. One that is made new takes the place of the oldest when there are as many as may be. */
export function findOrMake<V>(
  entries: Map<string, V>,
  name: string,
  make: () => V,
  entriesMax = Number.POSITIVE_INFINITY,
): V {
  const known = entries.get(name)
  if (known !== undefined) return known
  const [oldest] = entries.size >= entriesMax ? entries.keys() : []
  if (oldest !== undefined) entries.delete(oldest)
  const made = make()
  entries.set(name, made)
  return made
}
