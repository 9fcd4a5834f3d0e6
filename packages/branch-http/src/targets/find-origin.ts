import type { TargetPolicy, TargetRules } from './target-policy.ts'

/** Where calls to a branch URL go, in one spelling: a named service and its origin are one. Undefined: it may not be called. */
export function originFinder(policy: Pick<TargetPolicy, 'resolve'>): (url: string) => string | undefined {
  return function findOrigin(url) {
    const resolved = policy.resolve(url)
    return resolved instanceof URL ? resolved.origin : undefined
  }
}

/** The origins that the rules name one by one: those of named services, and those that are listed without a wildcard or a range. */
export function listOrigins({
  services,
  allowed,
}: Pick<TargetRules, 'services' | 'allowed'>): readonly string[] {
  const exact = allowed.flatMap((rule) => (rule.type === 'exact' ? [rule.origin] : []))
  return [...new Set([...services.map(({ origin }) => origin), ...exact])]
}
