/**
 * The rights that a key may have. No scope includes another: each is named, and no word stands for all of them.
 * `payloads` shows what may hold secrets, `operate` gives the commands of an operator, and `admin` those that override
 * the answer of a service.
 */
export const SCOPES = ['submit', 'read', 'payloads', 'signal', 'operate', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** States who may use a route: every caller, a key that has one of these scopes, or a key that has all of them. */
export type RouteAccess = 'open' | ScopedAccess
export type ScopedAccess = readonly [Scope, ...Scope[]] | { readonly all: readonly [Scope, ...Scope[]] }

export function listScopes(access: ScopedAccess): readonly Scope[] {
  return 'all' in access ? access.all : access
}

/** Tells whether each scope that the access needs passes the test: one of them, or all where the access says so. */
export function isGranted(access: ScopedAccess, has: (scope: Scope) => boolean): boolean {
  return 'all' in access ? access.all.every(has) : access.some(has)
}

export function isScope(value: unknown): value is Scope {
  return SCOPES.some((scope) => scope === value)
}
