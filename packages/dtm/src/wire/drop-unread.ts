/** A map with no more entries than this is kept as it is. */
const FEW = 4

/**
 * Drops the entries of a map that nothing reads, if it has many: a request is in memory for as long as its caller waits. The others
 * keep their order, since a request that comes again is compared with the hash of the first one, whatever version made that.
 */
export function dropUnread(
  map: Readonly<Record<string, string>>,
  readKeys: readonly string[],
): Readonly<Record<string, string>> {
  const entries = Object.entries(map)
  return entries.length <= FEW ? map : Object.fromEntries(entries.filter(([key]) => readKeys.includes(key)))
}
