import type { BreakRequest, BreakView, BreakWay, DevView, Op } from '@counterstep/protocol'
import { queryOptions } from '@tanstack/react-query'
import { ApiError, callApi } from './client.ts'

export const BREAK_WORDS: Readonly<Record<BreakWay, string>> = {
  'answer-409': 'answers 409',
  'answer-500': 'answers 500',
  'time-out': 'times out',
  late: 'is 3 s late',
  'take-effect-and-lose-the-answer': 'takes effect, and its answer is lost',
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

export function breakCalls(request: BreakRequest): Promise<DevView> {
  return callApi<DevView>('dev/break', { method: 'POST', body: request })
}

/** Finds the break that the next call of an op to a URL meets. */
export function findBreak(dev: DevView | null | undefined, url: string, op: Op): BreakView | undefined {
  return dev?.breaks.find((each) => each.urlPrefix === url && each.op === op)
}
