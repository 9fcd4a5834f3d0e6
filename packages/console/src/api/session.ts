import type { LoginView, SessionView } from '@counterstep/protocol'
import { queryOptions } from '@tanstack/react-query'
import { API_URL } from './api-url.ts'
import { ApiError, callApi } from './client.ts'
import type { Session } from './may-do.ts'
import { keepSessionSecret } from './session-secret.ts'

export const sessionKey = ['session'] as const

export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: ({ signal }) => readSession(signal),
  staleTime: 60_000,
})

/** Null: the person must log in. */
async function readSession(signal: AbortSignal): Promise<Session | null> {
  try {
    return toSession(await callApi<SessionView>('session', { signal }))
  } catch (error: unknown) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 401) return null
    if (error.isMissingRoute) return { scopes: 'all', isOpen: true }
    throw error
  }
}

export async function logIn(key: string, person: string): Promise<Session> {
  // The cookie is sent to this path only. A proxy may have put a prefix before it, which the server does not see.
  const { pathname: path } = new URL('..', API_URL)
  const body = { key, path, ...(person === '' ? {} : { person }) }
  const { secret, ...session } = await callApi<LoginView>('session', { method: 'POST', body })
  keepSessionSecret(secret)
  return toSession(session)
}

/** The secret goes in any case, so that this browser has no session even if the server cannot be reached. */
export async function logOut(): Promise<void> {
  try {
    await callApi<SessionView>('session', { method: 'DELETE' })
  } finally {
    keepSessionSecret(undefined)
  }
}

function toSession({ via, person, key, scopes }: SessionView): Session {
  return {
    ...(person === undefined ? {} : { person }),
    ...(key === undefined ? {} : { keyName: key.name }),
    scopes,
    isOpen: via === 'local',
  }
}
