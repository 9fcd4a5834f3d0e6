/** The rights that a key may have. No scope includes another: each is named, and no word stands for all of them. */
export const SCOPES = ['submit', 'read', 'signal', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** States who may use a route: every caller, or a key that has one of these scopes. */
export type RouteAccess = 'open' | readonly [Scope, ...Scope[]]

export function isScope(value: unknown): value is Scope {
  return SCOPES.some((scope) => scope === value)
}
