/** What a key may do. None includes another: each is named, and there is no word for all. */
export const SCOPES = ['submit', 'read', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** Of a route: open to everybody, or to a key that has one of these scopes. */
export type RouteAccess = 'open' | readonly [Scope, ...Scope[]]

export function isScope(value: unknown): value is Scope {
  return SCOPES.some((scope) => scope === value)
}
