import type { TransactionView } from '@counterstep/protocol'
import {
  type Edge,
  type EdgeLabel,
  type GraphLabel,
  Graph as LaidOutGraph,
  layout,
  type NodeLabel,
} from '@dagrejs/dagre'
import { Link } from '@tanstack/react-router'
import { readBranchState } from './branch-state.ts'
import { toPercent } from './to-percent.ts'

const NODE = { width: 150, height: 44 }

interface Drawing {
  readonly width: number
  readonly height: number
  readonly nodes: readonly { readonly id: string; readonly x: number; readonly y: number }[]
  readonly edges: readonly { readonly key: string; readonly path: string }[]
}

/** Which branch comes after which, from left to right. */
export function Graph({ view }: { readonly view: TransactionView }) {
  if (view.branches.length === 0) return <p className="quiet waiting">It has no branches yet.</p>
  const { width, height, nodes, edges } = layOut(view)
  return (
    <div className="graph-frame">
      <div className="graph" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
          {edges.map(({ key, path }) => (
            <path key={key} d={path} />
          ))}
        </svg>
        {nodes.map(({ id, x, y }) => (
          <Link
            key={id}
            from="/tx/$gid"
            to="/tx/$gid"
            params={{ gid: view.gid }}
            search={(before) => ({ ...before, op: `${id}.${firstOp(view, id)}` })}
            className="graph-node"
            data-state={readBranchState(view, id)}
            style={{ left: toPercent((x - NODE.width / 2) / width), top: `${y - NODE.height / 2}px` }}
          >
            <strong title={id}>{id}</strong>
            <span>{readBranchState(view, id)}</span>
          </Link>
        ))}
      </div>
    </div>
  )
}

function firstOp(view: TransactionView, id: string): string {
  return view.branches.find((branch) => branch.id === id)?.ops[0]?.op ?? 'action'
}

function layOut(view: TransactionView): Drawing {
  const graph = new LaidOutGraph<GraphLabel, NodeLabel, EdgeLabel>()
  graph.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 48, marginx: 12, marginy: 12 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id } of view.branches) graph.setNode(id, { ...NODE })
  for (const { id, after } of view.branches) for (const before of after) graph.setEdge(before, id)
  layout(graph)
  const { width = NODE.width, height = NODE.height } = graph.graph()
  return {
    width,
    height,
    nodes: view.branches.map(({ id }) => ({ id, x: graph.node(id).x ?? 0, y: graph.node(id).y ?? 0 })),
    edges: graph.edges().map((edge: Edge) => ({
      key: `${edge.v} ${edge.w}`,
      path: toPath(graph.edge(edge).points ?? []),
    })),
  }
}

function toPath(points: readonly { readonly x: number; readonly y: number }[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join(' ')
}
