/**
 * The rights that a key may have. No scope includes another: each is named, and no word stands for all of them.
 * `payloads` shows what may hold secrets, `operate` gives the commands of an operator, and `admin` those that override
 * the answer of a service.
 */
export const SCOPES = ['submit', 'read', 'payloads', 'signal', 'operate', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** States who may use a route: every caller, or a key that has one of these scopes. */
export type RouteAccess = 'open' | readonly [Scope, ...Scope[]]

export function isScope(value: unknown): value is Scope {
  return SCOPES.some((scope) => scope === value)
}
