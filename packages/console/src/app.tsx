import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { ApiError } from './api/client.ts'
import { liveLink } from './api/live.ts'
import { sessionKey, sessionQuery } from './api/session.ts'
import { Trouble } from './parts/notice.tsx'
import { router } from './routes.tsx'

const RETRIES_MAX = 2

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      // A refusal stays one. Only an answer that says "later", or none at all, is worth another try.
      retry: (count, error) => count < RETRIES_MAX && error instanceof ApiError && isWorthARetry(error),
    },
  },
})

function isWorthARetry({ status }: ApiError): boolean {
  return status === 0 || status === 429 || status === 503
}

client.getQueryCache().subscribe(({ type, query }) => {
  if (type !== 'updated' || !(query.state.error instanceof ApiError)) return
  const hasLapsed = query.state.error.status === 401 && query.queryKey[0] !== sessionKey[0]
  if (hasLapsed && client.getQueryData(sessionKey) !== null) client.setQueryData(sessionKey, null)
})
liveLink.start(client)

const LogIn = lazy(() =>
  import('./screens/login/log-in.tsx').then(({ LogIn: Screen }) => ({ default: Screen })),
)

export function App() {
  return (
    <QueryClientProvider client={client}>
      <Gate />
    </QueryClientProvider>
  )
}

/** Nothing is asked of the server before it has said who looks. */
function Gate() {
  const { data: session, error, refetch, isPending } = useQuery(sessionQuery)
  if (session === null) {
    return (
      <Suspense>
        <LogIn />
      </Suspense>
    )
  }
  if (session !== undefined) return <RouterProvider router={router} />
  if (isPending) return <p className="first-wait">Asking the server …</p>
  return (
    <main className="page">
      <Trouble error={error} what="the console" onRetry={() => void refetch()} />
    </main>
  )
}
