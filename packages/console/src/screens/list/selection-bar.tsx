import type { TransactionSummary } from '@counterstep/protocol'
import { readServerTime } from '../../api/clock.ts'
import { BulkButtons } from '../../commands/bulk-buttons.tsx'
import { offerBulk } from '../../commands/bulk-target.ts'
import { isEmptyFilter, type ListFilter, toListQuery } from '../../filters/list-filter.ts'
import { stringifySearch } from '../../filters/search-text.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import type { Selection } from './use-selection.ts'

interface SelectionBarProps {
  readonly filter: ListFilter
  readonly rows: readonly TransactionSummary[]
  readonly selection: Selection
  /** The rows are not all that match. */
  readonly hasMore: boolean
  readonly newer: number
  readonly onShowNewest: () => void
}

/** New rows wait here until they are wanted, so that no row moves under the pointer. */
export function SelectionBar({ filter, rows, selection, hasMore, newer, onShowNewest }: SelectionBarProps) {
  const { gids } = selection
  const isWhole = !hasMore && newer === 0
  const picked = rows.filter(({ gid }) => gids.has(gid))
  return (
    <div className="selection-bar" data-active={gids.size > 0}>
      <span aria-live="polite">
        {gids.size > 0
          ? `${gids.size} selected`
          : `${rows.length} ${rows.length === 1 ? 'row' : 'rows'} shown`}
      </span>
      {gids.size === 0 ? (
        <CommandAll filter={filter} rows={rows} isWhole={isWhole} />
      ) : (
        <>
          <BulkButtons
            commands={offerBulk(['retry', 'pause', 'resume', 'abort'], picked, picked.length === gids.size)}
            choice={{ gids: [...gids] }}
            what={String(gids.size)}
          />
          <CopyButton text={[...gids].join('\n')} label="Copy gids" />
          <button type="button" className="small" onClick={() => selection.set([])}>
            Select none
          </button>
        </>
      )}
      <span className="space" />
      {newer === 0 ? null : (
        <button type="button" className="newer" onClick={onShowNewest} disabled={gids.size > 0}>
          {newer} newer ▲
        </button>
      )}
    </div>
  )
}

interface CommandAllProps {
  readonly filter: ListFilter
  readonly rows: readonly TransactionSummary[]
  /** The rows are all that match. */
  readonly isWhole: boolean
}

/** Without a filter, one click would command everything, so a filter comes first. */
function CommandAll({ filter, rows, isWhole }: CommandAllProps) {
  if (isEmptyFilter(filter)) return null
  const { order: _, ...chosen } = filter
  const query = stringifySearch(toListQuery(chosen, readServerTime())).slice(1)
  return (
    <BulkButtons
      commands={offerBulk(['retry', 'pause', 'abort'], rows, isWhole)}
      choice={{ filter: query }}
      what="all that match"
      {...(isWhole && rows.length === 0 ? { count: 0 } : {})}
    />
  )
}
