import type { TargetPolicy } from './target-policy.ts'

/** Where calls to a branch URL go, in one spelling: a named service and its origin are one. Undefined: it may not be called. */
export function originFinder(policy: Pick<TargetPolicy, 'resolve'>): (url: string) => string | undefined {
  return function findOrigin(url) {
    const resolved = policy.resolve(url)
    return resolved instanceof URL ? resolved.origin : undefined
  }
}
