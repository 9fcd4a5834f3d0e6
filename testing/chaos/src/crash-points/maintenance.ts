import { randomUUID } from 'node:crypto'
import { FORMAT, type Store } from '@counterstep/core'
import { type Gid, isGid } from '@counterstep/protocol'

const CATEGORY = 'crash-points'
const PURGE_LIMIT = 10
/** No node claims it before then: its content is no transaction of ours. */
const FODDER_DUE_IN_MS = 3_600_000

/** Does the work that the engine does only every half minute, or never: a purge that finds something, and documents. */
export async function maintain(store: Store): Promise<void> {
  await leaveFodder(store)
  await store.purgeFinished(PURGE_LIMIT)
  const key = randomUUID()
  const first = { category: CATEGORY, key, text: 'first', expectedVersion: 0, writeId: writeId() }
  await store.writeDocument(first)
  await store.writeDocument({ ...first, text: 'second', expectedVersion: 1, writeId: writeId() })
  await store.removeDocument({ category: CATEGORY, key, expectedVersion: 2 })
}

/** A finished row whose retention is over. */
async function leaveFodder(store: Store): Promise<void> {
  const gid = fodderGid()
  const token = randomUUID().replaceAll('-', '')
  await store.create({
    gid,
    kind: 'saga',
    status: 'submitted',
    format: FORMAT,
    digest: '0'.repeat(64),
    definition: '{}',
    progress: '{}',
    token,
    writeId: writeId(),
    hold: { type: 'waiting', dueInMs: FODDER_DUE_IN_MS },
    sentList: 'held',
  })
  await store.update({
    gid,
    token,
    version: 1,
    writeId: writeId(),
    status: 'succeeded',
    format: FORMAT,
    progress: '{}',
    retrying: false,
    attention: false,
    hold: { type: 'finish', retentionMs: 0 },
  })
}

function fodderGid(): Gid {
  const gid = `fodder-${randomUUID()}`
  if (!isGid(gid)) throw new Error(`${gid} is no gid`)
  return gid
}

function writeId(): string {
  return randomUUID().replaceAll('-', '')
}
