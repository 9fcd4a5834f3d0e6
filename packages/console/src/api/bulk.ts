import type { BulkListView, BulkPreview, BulkRequest, BulkView } from '@counterstep/protocol'
import { queryOptions } from '@tanstack/react-query'
import { callApi } from './client.ts'

const POLL_MS = 1_000
const SLOW_POLL_MS = 5_000

export type BulkJobCommand = 'pause' | 'resume' | 'cancel'

export const bulkListQuery = queryOptions({
  queryKey: ['bulk'],
  queryFn: ({ signal }) => callApi<BulkListView>('bulk', { signal }),
  refetchInterval: SLOW_POLL_MS,
})

export function bulkJobKey(id: string) {
  return ['bulk', id] as const
}

export function bulkJobQuery(id: string) {
  return queryOptions({
    queryKey: bulkJobKey(id),
    queryFn: ({ signal }) => callApi<BulkView>(toJobPath(id), { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && hasEnded(state.data) ? false : POLL_MS),
  })
}

export function previewBulk(request: BulkRequest): Promise<BulkPreview> {
  return callApi<BulkPreview>('bulk?dryRun=true', { method: 'POST', body: request })
}

export function startBulk(request: BulkRequest): Promise<BulkView> {
  return callApi<BulkView>('bulk', { method: 'POST', body: request })
}

export function commandBulkJob(id: string, command: BulkJobCommand): Promise<BulkView> {
  return callApi<BulkView>(toJobPath(id, `/${command}`), { method: 'POST' })
}

export function hasEnded({ state }: BulkView): boolean {
  return state === 'done' || state === 'cancelled'
}

function toJobPath(id: string, command = ''): string {
  return `bulk/${encodeURIComponent(id)}${command}`
}
