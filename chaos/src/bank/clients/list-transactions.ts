import type { TransactionPage, TransactionSummary } from '@counterstep/protocol'

const PAGE = 200
const ANSWER_MS_MAX = 10_000

/** All pages of the list, past the proxies. */
export async function* listTransactions(
  serverUrl: string,
  filter: string,
): AsyncGenerator<TransactionSummary> {
  let cursor: string | undefined
  do {
    const next = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const response = await fetch(`${serverUrl}/v1/transactions?limit=${PAGE}${filter}${next}`, {
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    if (response.status !== 200) throw new Error(`the list is answered ${response.status}`)
    const page = (await response.json()) as TransactionPage
    yield* page.items
    cursor = page.cursor
  } while (cursor !== undefined)
}

const UNFINISHED = '&status=prepared&status=submitted&status=aborting'

export async function countUnfinished(serverUrl: string): Promise<number> {
  let count = 0
  for await (const _each of listTransactions(serverUrl, UNFINISHED)) count += 1
  return count
}
