import type { SavedView, SavedViewRequest, SavedViews } from '@counterstep/protocol'
import { queryOptions } from '@tanstack/react-query'
import { callApi } from './client.ts'

export const viewsKey = ['views'] as const

export const viewsQuery = queryOptions({
  queryKey: viewsKey,
  queryFn: ({ signal }) => callApi<SavedViews>('views', { signal }),
  staleTime: 10_000,
})

export function saveView(request: SavedViewRequest): Promise<SavedView> {
  return callApi<SavedView>('views', { method: 'POST', body: request })
}

export function removeView(id: string): Promise<SavedViews> {
  return callApi<SavedViews>(`views/${encodeURIComponent(id)}`, { method: 'DELETE' })
}
