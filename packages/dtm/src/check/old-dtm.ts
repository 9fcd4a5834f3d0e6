/** Reads a running DTM over its HTTP API: the transactions that it keeps, with their branches, and its topics. */

/** A transaction as DTM shows it. Fields that this check does not need are left out. */
export interface OldTransaction {
  readonly gid?: string
  readonly trans_type?: string
  readonly status?: string
  readonly protocol?: string
  readonly query_prepared?: string
  readonly custom_data?: string
  /** The options as JSON. */
  readonly options?: string
}

export interface OldBranch {
  readonly branch_id?: string
  readonly op?: string
  readonly url?: string
  readonly bin_data?: string
  readonly status?: string
}

export interface OldTopic {
  readonly name: string
  readonly urls: readonly string[]
}

/** Gets a JSON document below DTM's base path. */
export type GetJson = (path: string) => Promise<unknown>

const PAGE = 100
const TOPICS = 'topics'

/** Goes through the transactions, at most `limit` of them. DTM on Redis may show one twice, so each gid is taken once. */
export async function* readTransactions(
  get: GetJson,
  limit: number,
): AsyncGenerator<{ readonly transaction: OldTransaction; readonly branches: readonly OldBranch[] }> {
  const seen = new Set<string>()
  let position = ''
  do {
    const page = (await get(`/all?limit=${PAGE}&position=${encodeURIComponent(position)}`)) as {
      readonly next_position?: string
      readonly transactions?: readonly OldTransaction[] | null
    }
    for (const transaction of page.transactions ?? []) {
      const { gid = '' } = transaction
      if (seen.has(gid)) continue
      if (seen.size >= limit) return
      seen.add(gid)
      const { branches } = (await get(`/query?gid=${encodeURIComponent(gid)}`)) as {
        readonly branches?: readonly OldBranch[] | null
      }
      yield { transaction, branches: branches ?? [] }
    }
    position = toNextPosition(position, page.next_position)
  } while (position !== '')
}

export async function* readTopics(get: GetJson): AsyncGenerator<OldTopic> {
  let position = ''
  do {
    const page = (await get(
      `/scanKV?cat=${TOPICS}&limit=${PAGE}&position=${encodeURIComponent(position)}`,
    )) as { readonly next_position?: string; readonly kv?: readonly { k?: string; v?: string }[] | null }
    for (const { k: name = '', v = '[]' } of page.kv ?? [])
      yield { name, urls: (JSON.parse(v) as readonly { url?: string }[]).map(({ url = '' }) => url) }
    position = toNextPosition(position, page.next_position)
  } while (position !== '')
}

/** Throws for a list that would never end. */
function toNextPosition(position: string, next = ''): string {
  if (next !== '' && next === position) throw new TypeError(`DTM gives the position ${position} again`)
  return next
}
