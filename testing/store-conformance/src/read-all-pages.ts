import assert from 'node:assert/strict'
import type { ListCursor, ListedTransaction, ListQuery, ListResult, Store } from '@counterstep/core'

const PAGES_MAX = 100

/** Reads all pages, up to a bound, because a store that repeats a row would give pages for ever. */
export async function readAllPages(store: Store, query: ListQuery): Promise<readonly ListedTransaction[]> {
  const items: ListedTransaction[] = []
  let cursor: ListCursor | undefined = query.cursor
  for (let page = 0; page < PAGES_MAX; page++) {
    const result: ListResult = await store.list({ ...query, ...(cursor && { cursor }) })
    assert.ok(result.items.length <= query.limit)
    items.push(...result.items)
    cursor = result.cursor
    if (cursor === undefined) return items
  }
  assert.fail(`more than ${PAGES_MAX} pages`)
}
