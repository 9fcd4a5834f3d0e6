import type { TransactionPage, TransactionSummary } from '@counterstep/protocol'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { API_URL } from '../../api/client.ts'
import { readServerTime } from '../../api/clock.ts'
import { type ListFilter, toListQuery } from '../../filters/list-filter.ts'
import { stringifySearch } from '../../filters/search-text.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { TimeOfDay } from '../../parts/instant.tsx'
import { ProblemText } from '../../parts/notice.tsx'
import { toCurl } from '../../parts/to-curl.ts'

interface FooterProps {
  readonly filter: ListFilter
  readonly pages: UseInfiniteQueryResult<InfiniteData<TransactionPage>>
  readonly rows: readonly TransactionSummary[]
}

export function ListFooter({ filter, pages, rows }: FooterProps) {
  const searchedTo = pages.data?.pages.at(-1)?.searchedTo
  const path = `transactions${stringifySearch(toListQuery(filter, readServerTime()))}`
  return (
    <footer className="list-footer">
      {searchedTo === undefined ? null : (
        <span className="quiet">
          searched back to <TimeOfDay at={searchedTo} />
        </span>
      )}
      {pages.hasNextPage ? (
        <button type="button" disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {searchedTo === undefined ? 'More' : 'Search further back'}
        </button>
      ) : null}
      {pages.isError ? <ProblemText error={pages.error} /> : null}
      <span className="space" />
      <CopyButton text={rows.map(({ gid }) => gid).join('\n')} label="gids" />
      <CopyButton text={JSON.stringify(rows, null, 2)} label="JSON" />
      <CopyButton text={toCurl({ url: new URL(path, API_URL).href })} label="as curl" />
    </footer>
  )
}
