import { formatDuration } from '@counterstep/explain'
import { isFinalStatus, type TransactionSummary } from '@counterstep/protocol'
import { Link } from '@tanstack/react-router'
import { Age, Countdown } from '../../parts/instant.tsx'
import { Mark, StatusMark } from '../../parts/status-mark.tsx'
import { Tags } from '../../parts/tags.tsx'
import type { Selection } from './use-selection.ts'

interface RowProps {
  readonly row: TransactionSummary
  readonly selection: Selection
}

export function TransactionRow({ row, selection }: RowProps) {
  const { gid, kind, status, problem, attempts, createdAt, updatedAt } = row
  const isPicked = selection.gids.has(gid)
  const isEnded = isFinalStatus(status)
  return (
    <tr data-picked={isPicked} data-attention={row.attention}>
      <td className="pick">
        <input
          type="checkbox"
          checked={isPicked}
          onChange={() => selection.toggle(gid)}
          aria-label={`Select ${gid}`}
        />
      </td>
      <td className="gid">
        <Link to="/tx/$gid" params={{ gid }} title={gid} data-row-link="">
          {gid}
        </Link>
      </td>
      <td className="name" {...(row.name === undefined ? {} : { 'data-label': 'name' })}>
        {row.name ?? <span className="quiet">{kind}</span>}
      </td>
      <td className="state">
        <StatusMark status={status} />
        <RowMarks row={row} />
      </td>
      <td className="problem" data-label="problem" data-empty={problem === undefined} title={problem}>
        {problem ?? ''}
      </td>
      <td className="number" data-label="attempts" data-empty={attempts === undefined}>
        {attempts?.toLocaleString() ?? ''}
      </td>
      <td className="number" data-label="next" data-empty={isEnded || !row.retrying}>
        {isEnded || !row.retrying ? '' : <Countdown at={row.dueAt} />}
      </td>
      <td data-label="accepted">
        <Age at={createdAt} />
      </td>
      <td className="number" data-label="took" data-empty={!isEnded}>
        {isEnded ? formatDuration(updatedAt - createdAt) : ''}
      </td>
      <td className="tags-cell" data-empty={row.tags === undefined}>
        <Tags tags={row.tags} />
      </td>
    </tr>
  )
}

function RowMarks({ row }: { readonly row: TransactionSummary }) {
  return (
    <span className="marks">
      {row.attention ? <Mark name="attention" isShort /> : null}
      {row.retrying && !row.attention ? <Mark name="retrying" isShort /> : null}
      {row.paused === true ? <Mark name="paused" isShort /> : null}
      {row.byHand === true ? <Mark name="byHand" isShort /> : null}
      {row.edited === true ? <Mark name="edited" isShort /> : null}
    </span>
  )
}
