const PAGE_LIMIT = 200

interface Page {
  readonly items: readonly unknown[]
  readonly cursor?: string
}

/** How many transactions of a status the store holds, counted as a client would: page by page. */
export async function countStored(url: string, status = 'succeeded'): Promise<number> {
  let count = 0
  let cursor: string | undefined
  do {
    const query = new URLSearchParams({ status, limit: String(PAGE_LIMIT) })
    if (cursor !== undefined) query.set('cursor', cursor)
    const response = await fetch(`${url}/v1/transactions?${query}`)
    if (response.status !== 200) throw new Error(`the list of transactions answered ${response.status}`)
    const page = (await response.json()) as Page
    count += page.items.length
    cursor = page.cursor
  } while (cursor !== undefined)
  return count
}
