export type Scope = 'submit' | 'read' | 'payloads' | 'signal' | 'operate' | 'admin'

/** Who looks. `isOpen`: this server asks for no key. */
export interface Session {
  readonly person?: string
  readonly keyName?: string
  readonly scopes: 'all' | readonly string[]
  readonly isOpen: boolean
}

export function mayDo(session: Session | null | undefined, ...anyOf: readonly Scope[]): boolean {
  if (session == null) return false
  return session.scopes === 'all' || anyOf.some((scope) => session.scopes.includes(scope))
}
