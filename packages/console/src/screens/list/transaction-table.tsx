import type { TransactionSummary } from '@counterstep/protocol'
import { useRef } from 'react'
import { TransactionRow } from './transaction-row.tsx'
import { useRowKeys } from './use-row-keys.ts'
import type { Selection } from './use-selection.ts'

interface TableProps {
  readonly rows: readonly TransactionSummary[]
  readonly selection: Selection
}

export function TransactionTable({ rows, selection }: TableProps) {
  const body = useRef<HTMLTableSectionElement>(null)
  useRowKeys(body)
  const isAll = rows.length > 0 && rows.every(({ gid }) => selection.gids.has(gid))
  return (
    <div className="table-frame">
      <table className="rows">
        <thead>
          <tr>
            <th className="pick">
              <input
                type="checkbox"
                aria-label="Select all rows that are shown"
                checked={isAll}
                onChange={() => selection.set(isAll ? [] : rows.map(({ gid }) => gid))}
              />
            </th>
            <th>gid</th>
            <th>name</th>
            <th>status</th>
            <th>problem</th>
            <th className="number">attempts</th>
            <th className="number">next</th>
            <th>accepted</th>
            <th className="number">took</th>
            <th>tags</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row) => (
            <TransactionRow key={row.gid} row={row} selection={selection} />
          ))}
        </tbody>
      </table>
    </div>
  )
}
