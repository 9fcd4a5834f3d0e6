import { queryOptions } from '@tanstack/react-query'
import { ApiError, callApi } from './client.ts'

/** What the next calls to a URL meet, on a server for development only. */
export const BREAKS = ['refuse', 'fail', 'timeout', 'slow', 'lose-answer'] as const
export type Break = (typeof BREAKS)[number]

export const BREAK_WORDS: Readonly<Record<Break, string>> = {
  refuse: 'answer 409',
  fail: 'answer 500',
  timeout: 'time out',
  slow: 'are 3 s late',
  'lose-answer': 'take effect and lose the answer',
}

export interface BrokenUrl {
  readonly url: string
  readonly how: Break
  /** So many of the next calls. */
  readonly calls: number
}

interface DevView {
  readonly breaks: readonly BrokenUrl[]
}

export const devKey = ['dev'] as const

/** Null: this server runs for more than development, so nothing can be broken. */
export const devQuery = queryOptions({
  queryKey: devKey,
  queryFn: async ({ signal }): Promise<DevView | null> => {
    try {
      return await callApi<DevView>('dev', { signal })
    } catch (error: unknown) {
      if (error instanceof ApiError && (error.isMissingRoute || error.status === 403)) return null
      throw error
    }
  },
  refetchInterval: ({ state }) => (state.data === null ? false : 3_000),
})

export function breakUrl(broken: BrokenUrl): Promise<DevView> {
  return callApi<DevView>('dev/break', { method: 'POST', body: broken })
}
