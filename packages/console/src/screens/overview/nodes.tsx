import { formatDuration } from '@counterstep/explain'
import { type NodeView, type OverviewView, UNFINISHED_STATUSES } from '@counterstep/protocol'
import { Link } from '@tanstack/react-router'
import { Age } from '../../parts/instant.tsx'
import { useNow } from '../../parts/use-now.ts'
import { Card } from './card.tsx'

export function Nodes({ view: { nodes } }: { readonly view: OverviewView }) {
  const isWhole = nodes.every(({ state }) => state === 'up')
  return (
    <Card title="Nodes" tone={isWhole ? 'plain' : 'bad'} isWide>
      <table className="figures">
        <tbody>
          {nodes.map((node) => (
            <NodeRow key={node.id} node={node} />
          ))}
        </tbody>
      </table>
    </Card>
  )
}

function NodeRow({ node }: { readonly node: NodeView }) {
  const now = useNow()
  const { id, state, startedAt, seenAt, inFlight, loopP99Ms, version } = node
  return (
    <tr data-state={state}>
      <td className="clip" title={`${id}, version ${version}`}>
        {id}
      </td>
      {state === 'gone' ? (
        <td colSpan={3} className="bad">
          gone, last heard from <Age at={seenAt} />
        </td>
      ) : (
        <>
          <td>✓ up {formatDuration(now - startedAt)}</td>
          <td className="number">
            <Link to="/list" search={{ status: UNFINISHED_STATUSES.join(','), order: 'due' }}>
              {inFlight.toLocaleString()} in flight
            </Link>
          </td>
          <td className="number quiet">loop p99 {formatDuration(loopP99Ms)}</td>
        </>
      )}
    </tr>
  )
}
