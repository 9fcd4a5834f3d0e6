import { queryOptions } from '@tanstack/react-query'
import { ApiError, callApi } from './client.ts'

export type Scope = 'submit' | 'read' | 'payloads' | 'signal' | 'operate' | 'admin'

interface SessionAnswer {
  readonly person?: string
  readonly key?: { readonly id: string; readonly name: string }
  readonly scopes: 'all' | readonly string[]
  readonly until?: number
}

/** Who looks. `isOpen`: this server asks for no key. */
export interface Session {
  readonly person?: string
  readonly keyName?: string
  readonly scopes: 'all' | readonly string[]
  readonly isOpen: boolean
}

export const sessionKey = ['session'] as const

export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: ({ signal }) => readSession(signal),
  staleTime: 60_000,
})

/** Null: the person must log in. */
async function readSession(signal: AbortSignal): Promise<Session | null> {
  try {
    return toSession(await callApi<SessionAnswer>('session', { signal }))
  } catch (error: unknown) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 401) return null
    if (error.isMissingRoute) return { scopes: 'all', isOpen: true }
    throw error
  }
}

export async function logIn(key: string, person: string): Promise<Session> {
  const body = { key, ...(person === '' ? {} : { person }) }
  return toSession(await callApi<SessionAnswer>('session', { method: 'POST', body }))
}

export function logOut(): Promise<void> {
  return callApi<undefined>('session', { method: 'DELETE' })
}

function toSession({ person, key, scopes }: SessionAnswer): Session {
  return {
    ...(person === undefined ? {} : { person }),
    ...(key === undefined ? {} : { keyName: key.name }),
    scopes,
    isOpen: key === undefined,
  }
}

export function mayDo(session: Session | null | undefined, ...anyOf: readonly Scope[]): boolean {
  if (session == null) return false
  return session.scopes === 'all' || anyOf.some((scope) => session.scopes.includes(scope))
}
