/** Returns the texts of these keys alone, since a request is in memory for as long as its caller waits. */
export function pick(
  map: Readonly<Record<string, string>>,
  keys: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => keys.includes(key)))
}
