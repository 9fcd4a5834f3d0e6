import { CounterstepError } from '../errors.ts'

const CHILDREN_MAX = 99

/** Ids as DTM's clients make them: two digits behind the parent's, so that a nested TCC keeps apart from its siblings. */
export function branchIds(gid: string, parentId: string): (id: string | undefined) => string {
  const taken = new Set<string>()
  let last = 0
  const next = (): string => {
    if (last === CHILDREN_MAX) {
      const message = `${gid} has ${CHILDREN_MAX} branches behind "${parentId}" already`
      throw new CounterstepError('SAGA_TOO_MANY_BRANCHES', message, { meaning: 'failure', gid })
    }
    last += 1
    return `${parentId}${String(last).padStart(2, '0')}`
  }
  return (given) => {
    let id = given ?? next()
    while (given === undefined && taken.has(id)) id = next()
    taken.add(id)
    return id
  }
}
