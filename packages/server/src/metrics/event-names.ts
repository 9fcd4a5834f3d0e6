/**
 * Event names are stable and few, and yet a store of somebody's own may report any: that must not grow a label without
 * end. Names past `max` are `other`.
 */
export function boundedNames(max: number): (name: string) => string {
  const names = new Set<string>()
  return function boundName(name) {
    if (names.size < max) names.add(name)
    return names.has(name) ? name : 'other'
  }
}
