import type { TargetPolicy, TargetRules } from './target-policy.ts'
import { toOrigin } from './target-url.ts'

/**
 * Makes a function that finds the origin of a branch URL in one spelling, so that a named service and its origin count as
 * one. It returns undefined if the URL must not be called.
 */
export function createOriginFinder(
  policy: Pick<TargetPolicy, 'resolve'>,
): (url: string) => string | undefined {
  return function findOrigin(url) {
    const resolved = policy.resolve(url)
    return resolved instanceof URL ? toOrigin(resolved) : undefined
  }
}

/** Lists the origins that the rules name one by one: of named services, and those without a wildcard or a range. */
export function listOrigins({
  services,
  allowed,
}: Pick<TargetRules, 'services' | 'allowed'>): readonly string[] {
  const exact = allowed.flatMap((rule) => (rule.type === 'exact' ? [rule.origin] : []))
  return [...new Set([...services.map(({ origin }) => origin), ...exact])]
}
