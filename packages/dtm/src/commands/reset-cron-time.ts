import type { EngineApi } from '@counterstep/engine'
import { type Gid, UNFINISHED_STATUSES } from '@counterstep/protocol'
import { LIST_PAGE } from '../view/list-page.ts'
import { nudge } from './nudge.ts'

export interface ResetCount {
  readonly hasRemaining: boolean
  readonly count: number
}

/** Retries what is due only after that instant; `limit` of them, and says whether there are more. */
export async function resetCronTime(engine: EngineApi, dueAfter: number, limit: number): Promise<ResetCount> {
  let count = 0
  let cursor: Awaited<ReturnType<EngineApi['list']>>['cursor']
  do {
    const page = await engine.list({
      limit: LIST_PAGE,
      status: UNFINISHED_STATUSES,
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const { gid, dueAt } of page.items) {
      if (dueAt <= dueAfter) continue
      if (count >= limit) return { hasRemaining: true, count }
      // One that has ended since it was listed needs none.
      if ((await nudge(gid as Gid, engine)) === 'nudged') count++
    }
    cursor = page.cursor
  } while (cursor !== undefined)
  return { hasRemaining: false, count }
}
