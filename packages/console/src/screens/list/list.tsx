import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { listQuery, newestQuery } from '../../api/queries.ts'
import { type ListFilter, readListFilter, writeListFilter } from '../../filters/list-filter.ts'
import { Trouble } from '../../parts/notice.tsx'
import '../../style/list.css'
import { EmptyList } from './empty-list.tsx'
import { FilterBar } from './filter-bar.tsx'
import { ListFooter } from './list-footer.tsx'
import { countNewer, mergeRows } from './newer-rows.ts'
import { SelectionBar } from './selection-bar.tsx'
import { TransactionTable } from './transaction-table.tsx'
import { useSelection } from './use-selection.ts'

export function List() {
  const search = useSearch({ from: '/list' })
  const filter = readListFilter(search)
  const navigate = useNavigate()
  const change = (next: ListFilter) =>
    void navigate({ to: '/list', search: writeListFilter(next), replace: true })
  return (
    <section className="list">
      <h1 className="unseen">Transactions</h1>
      <FilterBar filter={filter} onChange={change} />
      <Rows key={JSON.stringify(search)} filter={filter} onChange={change} />
    </section>
  )
}

interface RowsProps {
  readonly filter: ListFilter
  readonly onChange: (filter: ListFilter) => void
}

function Rows({ filter, onChange }: RowsProps) {
  useLive(['fresh'])
  const pages = useInfiniteQuery(listQuery(filter))
  const newest = useQuery(newestQuery(filter))
  const client = useQueryClient()
  const selection = useSelection()
  const loaded = pages.data?.pages.flatMap(({ items }) => items) ?? []
  const rows = selection.gids.size > 0 ? loaded : mergeRows(loaded, newest.data?.items ?? [])
  const newer = countNewer(loaded, newest.data?.items ?? [])
  const showNewest = () => void client.resetQueries({ queryKey: listQuery(filter).queryKey })
  if (pages.isError && loaded.length === 0) {
    return <Trouble error={pages.error} what="the list" onRetry={() => void pages.refetch()} />
  }
  if (pages.isPending) return <p className="quiet waiting">Reading …</p>
  return (
    <>
      <SelectionBar
        filter={filter}
        rows={rows}
        selection={selection}
        hasMore={pages.hasNextPage}
        newer={newer}
        onShowNewest={showNewest}
      />
      {rows.length === 0 ? (
        <EmptyList filter={filter} onChange={onChange} />
      ) : (
        <TransactionTable rows={rows} selection={selection} />
      )}
      <ListFooter filter={filter} pages={pages} rows={rows} />
    </>
  )
}
