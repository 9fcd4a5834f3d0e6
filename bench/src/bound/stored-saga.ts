import type { ListCursor, Store } from '@counterstep/core'
import { DEFAULT_SETTINGS, nodeIds } from '@counterstep/engine'

/** As long as the server writes for two branches that succeeded at once. */
const FINISHED =
  '{"b":[{"a":{"state":"succeeded","attempts":1}},{"a":{"state":"succeeded","attempts":1}}],"finishedAt":1790000000000}'
const DIGEST = '0'.repeat(64)
const PAGE_LIMIT = 1_000
const IDS = nodeIds()

/** Between the first durable write of a saga and its second. */
export interface StoredSaga {
  readonly gid: string
  finish(): Promise<void>
}

export async function storedSaga(store: Store, definition: string): Promise<StoredSaga> {
  const { leaseMs, retentionMs } = DEFAULT_SETTINGS
  const common = { gid: IDS.gid(), token: IDS.token(), format: 1 }
  const created = await store.create({
    ...common,
    kind: 'saga',
    status: 'submitted',
    digest: DIGEST,
    definition,
    progress: '{}',
    writeId: IDS.writeId(),
    hold: { type: 'owned', leaseMs },
    sentList: 'held',
  })
  if (created.type !== 'created') throw new Error('a gid that was there')
  return {
    gid: common.gid,
    async finish() {
      const saved = await store.update({
        ...common,
        version: 1,
        writeId: IDS.writeId(),
        status: 'succeeded',
        progress: FINISHED,
        retrying: false,
        attention: false,
        hold: { type: 'finish', retentionMs },
      })
      if (saved.type !== 'saved') throw new Error(`the second write was ${saved.type}`)
    },
  }
}

/** How many of them the store holds. */
export async function countFinished(store: Store): Promise<number> {
  let count = 0
  let cursor: ListCursor | undefined
  do {
    const page = await store.list({
      limit: PAGE_LIMIT,
      status: ['succeeded'],
      ...(cursor === undefined ? {} : { cursor }),
    })
    count += page.items.length
    cursor = page.cursor
  } while (cursor !== undefined)
  return count
}
