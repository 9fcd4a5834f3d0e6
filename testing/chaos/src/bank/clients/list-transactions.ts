import type { TransactionPage, TransactionSummary } from '@counterstep/protocol'
import { type ReadServer, readPatiently } from '../processes/server-reader.ts'

const PAGE = 200
const ANSWER_MS_MAX = 10_000

/** All pages of the list, past the proxies. */
export async function* listTransactions(
  read: ReadServer,
  filter: string,
): AsyncGenerator<TransactionSummary> {
  let cursor: string | undefined
  do {
    const next = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const path = `/v1/transactions?limit=${PAGE}${filter}${next}`
    const { statusCode, text } = await readPatiently(read, path, ANSWER_MS_MAX)
    if (statusCode !== 200) throw new Error(`the list is answered ${statusCode}`)
    const page = JSON.parse(text) as TransactionPage
    yield* page.items
    cursor = page.cursor
  } while (cursor !== undefined)
}

const UNFINISHED = '&status=prepared&status=submitted&status=aborting'

export async function countUnfinished(read: ReadServer): Promise<number> {
  let count = 0
  for await (const _each of listTransactions(read, UNFINISHED)) count += 1
  return count
}
