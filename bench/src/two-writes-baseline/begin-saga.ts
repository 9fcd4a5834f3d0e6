import type { ListCursor, NewTransaction, Store } from '@counterstep/core'
import { DEFAULT_SETTINGS, nodeIds } from '@counterstep/engine'

const DIGEST = '0'.repeat(64)
const PAGE_LIMIT = 1_000
const IDS = nodeIds()

/** Between its first durable write and its second. */
export interface BegunSaga {
  readonly gid: NewTransaction['gid']
  finish(progress: string): Promise<void>
}

/** Resolves when it is durable, as a saga is before its first call. */
export async function beginSaga(store: Store, definition: string): Promise<BegunSaga> {
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
    async finish(progress) {
      const saved = await store.update({
        ...common,
        version: 1,
        writeId: IDS.writeId(),
        status: 'succeeded',
        progress,
        retrying: false,
        attention: false,
        hold: { type: 'finish', retentionMs },
      })
      if (saved.type !== 'saved') throw new Error(`the second write was ${saved.type}`)
    },
  }
}

/** How many have succeeded. */
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
