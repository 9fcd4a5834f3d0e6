import type { TransactionSummary } from '@counterstep/protocol'
import { CopyButton } from '../../parts/copy-button.tsx'
import type { Selection } from './use-selection.ts'

interface SelectionBarProps {
  readonly rows: readonly TransactionSummary[]
  readonly selection: Selection
  readonly newer: number
  readonly onShowNewest: () => void
}

/** New rows wait here until they are wanted, so that no row moves under the pointer. */
export function SelectionBar({ rows, selection, newer, onShowNewest }: SelectionBarProps) {
  const { gids } = selection
  return (
    <div className="selection-bar" data-active={gids.size > 0}>
      <span aria-live="polite">
        {gids.size > 0
          ? `${gids.size} selected`
          : `${rows.length} ${rows.length === 1 ? 'row' : 'rows'} shown`}
      </span>
      {gids.size === 0 ? null : (
        <>
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
