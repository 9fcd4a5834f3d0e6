/** Returns the texts of these keys alone. */
export function pick(
  map: Readonly<Record<string, string>>,
  keys: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(map, key) ? [[key, map[key] ?? '']] : [])))
}
