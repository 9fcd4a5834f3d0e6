/**
 * Event names are stable and few, but a user's own store may report any name. So that a label does not grow without
 * end, names past `max` become `other`.
 */
export function createNameBound(max: number): (name: string) => string {
  const names = new Set<string>()
  return function boundName(name) {
    if (names.size < max) names.add(name)
    return names.has(name) ? name : 'other'
  }
}
