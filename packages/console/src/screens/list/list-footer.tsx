import type { TransactionPage, TransactionSummary } from '@counterstep/protocol'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ListFilter } from '../../filters/list-filter.ts'
import { TimeOfDay } from '../../parts/instant.tsx'
import { ProblemText } from '../../parts/notice.tsx'
import { ExportMenu } from './export-menu.tsx'

interface FooterProps {
  readonly filter: ListFilter
  readonly pages: UseInfiniteQueryResult<InfiniteData<TransactionPage>>
  readonly rows: readonly TransactionSummary[]
}

export function ListFooter({ filter, pages, rows }: FooterProps) {
  const searchedTo = pages.data?.pages.at(-1)?.searchedTo
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
      <ExportMenu filter={filter} rows={rows} />
    </footer>
  )
}
