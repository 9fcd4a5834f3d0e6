import { formatDuration, listLanes } from '@counterstep/explain'
import type { TransactionView } from '@counterstep/protocol'
import { Countdown, TimeOfDay } from '../parts/instant.tsx'

/** The same as the waterfall, for reading and for screen readers. */
export function OpTable({ view }: { readonly view: TransactionView }) {
  return (
    <div className="table-frame">
      <table className="rows">
        <thead>
          <tr>
            <th>branch</th>
            <th>op</th>
            <th>service</th>
            <th>state</th>
            <th className="number">attempts</th>
            <th>last answer</th>
            <th>first sent</th>
            <th className="number">took</th>
            <th className="number">next</th>
          </tr>
        </thead>
        <tbody>
          {listLanes(view).map(({ id, branchId, op }) => (
            <tr key={id}>
              <td>{branchId ?? '–'}</td>
              <td>{op.op}</td>
              <td className="clip" title={op.url}>
                {op.service ?? op.url ?? ''}
              </td>
              <td>{op.state}</td>
              <td className="number">{op.attempts}</td>
              <td>{op.error ?? op.statusCode ?? ''}</td>
              <td>{op.startedAt === undefined ? '' : <TimeOfDay at={op.startedAt} />}</td>
              <td className="number">{op.durationMs === undefined ? '' : formatDuration(op.durationMs)}</td>
              <td className="number">{op.nextAt === undefined ? '' : <Countdown at={op.nextAt} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
