/**
 * Bounds the names of events, which become values of a label. They are stable and few, but a user's own store may
 * report any name. After the first `max` names, each new one becomes `other`.
 */
export function createNameBound(max: number): (name: string) => string {
  const names = new Set<string>()
  return function boundName(name) {
    if (names.size < max) names.add(name)
    return names.has(name) ? name : 'other'
  }
}
