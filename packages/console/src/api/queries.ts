import {
  LIST_LIMIT_MAX,
  type NamesView,
  type OverviewView,
  type PanelsView,
  type PanelView,
  type ProblemsView,
  type ServicesView,
  type TransactionPage,
  type TransactionRequestView,
  type TransactionView,
} from '@counterstep/protocol'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { type ListFilter, toListQuery } from '../filters/list-filter.ts'
import { stringifySearch } from '../filters/search-text.ts'
import { ApiError, callApi } from './client.ts'
import { readServerTime } from './clock.ts'

export const PAGE_ROWS = 50
const POLL_MS = 2_000
const SLOW_POLL_MS = 5_000

export function toTransactionPath(gid: string, command = ''): string {
  return `transactions/${encodeURIComponent(gid)}${command}`
}

export function transactionKey(gid: string) {
  return ['transaction', gid] as const
}

/** `isLive`: the stream writes the newest state into the cache, so that nothing is asked. */
export function transactionQuery(gid: string, isLive: boolean) {
  return queryOptions({
    queryKey: transactionKey(gid),
    queryFn: ({ signal }) => callApi<TransactionView>(toTransactionPath(gid), { signal }),
    refetchInterval: ({ state }) => (isLive || state.data?.finishedAt !== undefined ? false : POLL_MS),
  })
}

/** The newest other one of a name that succeeded. Null: there is none. */
export function healthyQuery(name: string, gid: string) {
  return queryOptions({
    queryKey: ['healthy', name, gid],
    queryFn: async ({ signal }): Promise<TransactionView | null> => {
      const query = stringifySearch({ name, status: 'succeeded', limit: '2' })
      const { items } = await callApi<TransactionPage>(`transactions${query}`, { signal })
      const found = items.find((each) => each.gid !== gid)
      return found === undefined
        ? null
        : await callApi<TransactionView>(toTransactionPath(found.gid), { signal })
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function requestQuery(gid: string) {
  return queryOptions({
    queryKey: ['request', gid],
    queryFn: ({ signal }) => callApi<TransactionRequestView>(toTransactionPath(gid, '/request'), { signal }),
    // It may hold secrets, and so does not stay after its tab was left.
    gcTime: 0,
  })
}

function toListPath(filter: ListFilter, cursor: string): string {
  const query = { ...toListQuery(filter, readServerTime()), limit: String(PAGE_ROWS), cursor }
  return `transactions${stringifySearch(query)}`
}

/** The pages of the list. They are asked again only when the person wants the newer rows. */
export function listQuery(filter: ListFilter) {
  return infiniteQueryOptions({
    queryKey: ['list', filter],
    queryFn: ({ signal, pageParam }) => callApi<TransactionPage>(toListPath(filter, pageParam), { signal }),
    initialPageParam: '',
    getNextPageParam: ({ cursor }) => cursor,
    refetchOnWindowFocus: false,
  })
}

/** The gids of those that have a problem, in the order in which they are due. They are asked for once, when a person comes by. */
export function sufferersQuery(problem: string) {
  return queryOptions({
    queryKey: ['sufferers', problem],
    queryFn: async ({ signal }): Promise<readonly string[]> => {
      const query = stringifySearch({ problem, order: 'due', limit: String(LIST_LIMIT_MAX) })
      const { items } = await callApi<TransactionPage>(`transactions${query}`, { signal })
      return items.map(({ gid }) => gid)
    },
  })
}

/** The first page as it is by now: it says what has changed and how many rows are newer. */
export function newestQuery(filter: ListFilter) {
  return queryOptions({
    queryKey: ['newest', filter],
    queryFn: ({ signal }) => callApi<TransactionPage>(toListPath(filter, ''), { signal }),
    refetchInterval: SLOW_POLL_MS,
  })
}

export const problemsQuery = queryOptions({
  queryKey: ['problems'],
  queryFn: ({ signal }) => callApi<ProblemsView>('problems', { signal }),
  refetchInterval: stopAtMissingRoute(SLOW_POLL_MS),
})

export const servicesQuery = queryOptions({
  queryKey: ['services'],
  queryFn: ({ signal }) => callApi<ServicesView>('services', { signal }),
  refetchInterval: stopAtMissingRoute(SLOW_POLL_MS),
})

export const namesQuery = queryOptions({
  queryKey: ['names'],
  queryFn: ({ signal }) => callApi<NamesView>('names', { signal }),
  refetchInterval: stopAtMissingRoute(SLOW_POLL_MS),
})

/** They change only with the server. One that has no panels, or is older, has an empty menu. */
export const panelsQuery = queryOptions({
  queryKey: ['panels'],
  queryFn: ({ signal }) => callApi<PanelsView>('panels', { signal }),
  staleTime: 60_000,
})

export function panelQuery(id: string) {
  return queryOptions({
    queryKey: ['panels', id],
    queryFn: ({ signal }) => callApi<PanelView>(`panels/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: stopAtMissingRoute(SLOW_POLL_MS),
  })
}

export function overviewQuery(isLive: boolean) {
  return queryOptions({
    queryKey: ['overview'],
    queryFn: ({ signal }) => callApi<OverviewView>('overview', { signal }),
    refetchInterval: isLive ? false : stopAtMissingRoute(SLOW_POLL_MS),
  })
}

/** A route that the server does not have is not asked again and again. */
function stopAtMissingRoute(ms: number) {
  return ({ state }: { readonly state: { readonly error: Error | null } }) =>
    state.error instanceof ApiError && state.error.isMissingRoute ? false : ms
}
