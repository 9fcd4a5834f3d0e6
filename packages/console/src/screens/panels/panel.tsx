import type { PanelCell, PanelColumn, PanelView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { panelQuery } from '../../api/queries.ts'
import { Age } from '../../parts/instant.tsx'
import { formatDay, formatIso } from '../../parts/instants.ts'
import { Notice, Trouble } from '../../parts/notice.tsx'
import '../../style/panels.css'
import { filterRows } from './filter-rows.ts'

/** A table of what the server has beside transactions. Its columns and rows come from the server. */
export function Panel() {
  const { id } = useParams({ from: '/panels/$id' })
  const { data, error, refetch } = useQuery(panelQuery(id))
  if (data === undefined && error !== null) {
    return (
      <section className="panel">
        <h1>{id}</h1>
        <Trouble error={error} what="this panel" onRetry={() => void refetch()} />
      </section>
    )
  }
  if (data === undefined) return <p className="quiet waiting">Reading …</p>
  return <Shown key={id} panel={data} />
}

function Shown({ panel }: { readonly panel: PanelView }) {
  const [wanted, want] = useState('')
  const { title, columns, rows, asOf, more } = panel
  const shown = filterRows(rows, wanted)
  return (
    <section className="panel">
      <header>
        <h1>{title}</h1>
        <input
          type="search"
          value={wanted}
          onChange={(event) => want(event.target.value)}
          placeholder="find in this table"
          aria-label="Find in this table"
          spellCheck={false}
        />
      </header>
      {shown.length === 0 ? (
        <Notice title={rows.length === 0 ? 'There is nothing in it' : 'No row has this text'} />
      ) : (
        <Table columns={columns} rows={shown} title={title} />
      )}
      <p className="quiet">
        {shown.length === rows.length ? rows.length : `${shown.length} of ${rows.length}`}{' '}
        {rows.length === 1 ? 'row' : 'rows'}
        {more === 0 ? '' : `, and ${more.toLocaleString()} that are not shown`}, read <Age at={asOf} />
      </p>
    </section>
  )
}

interface TableProps {
  readonly title: string
  readonly columns: readonly PanelColumn[]
  readonly rows: PanelView['rows']
}

function Table({ title, columns, rows }: TableProps) {
  return (
    <div className="table-frame">
      <table className="rows">
        <caption className="unseen">{title}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title}>{column.title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row has no name of its own.
            <tr key={at}>
              {columns.map((column, place) => (
                <td key={column.title} data-type={column.type} data-label={column.title}>
                  <Cell column={column} cell={row[place] ?? null} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Cell({ column: { type }, cell }: { readonly column: PanelColumn; readonly cell: PanelCell }) {
  if (cell === null) return <span className="quiet">–</span>
  if (type === 'code') return <code>{cell}</code>
  if (type === 'instant' && typeof cell === 'number') {
    return (
      <time dateTime={formatIso(cell)} title={formatIso(cell)}>
        {formatDay(cell)}
      </time>
    )
  }
  return cell
}
