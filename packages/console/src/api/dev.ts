import type { BreakWay, DevView } from '@counterstep/protocol'
import { queryOptions } from '@tanstack/react-query'
import { ApiError, callApi } from './client.ts'

/** The next calls to a URL can meet one of these, on a server for development only. */
export const BREAKS = [
  'answer-409',
  'answer-500',
  'time-out',
  'late',
  'take-effect-and-lose-the-answer',
] as const satisfies readonly BreakWay[]
export type Break = (typeof BREAKS)[number]

export const BREAK_WORDS: Readonly<Record<Break, string>> = {
  'answer-409': 'answer 409',
  'answer-500': 'answer 500',
  'time-out': 'time out',
  late: 'are 3 s late',
  'take-effect-and-lose-the-answer': 'take effect and lose the answer',
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

/** So many of the next calls to the URL are broken. */
export function breakUrl(broken: {
  readonly url: string
  readonly how: Break
  readonly next: number
}): Promise<DevView> {
  return callApi<DevView>('dev/break', { method: 'POST', body: broken })
}
