import type { TransactionView } from '@counterstep/protocol'
import { Link, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { JsonView } from '../../parts/json-view.tsx'
import { OpTable } from '../../timeline/op-table.tsx'
import { RequestTab } from './request-tab.tsx'
import { TimelineTab } from './timeline-tab.tsx'
import { Trail } from './trail.tsx'

const TAB_WORDS = {
  timeline: 'Timeline',
  graph: 'Graph',
  table: 'Table',
  request: 'Request',
  trail: 'Trail',
  json: 'JSON',
} as const
export type Tab = keyof typeof TAB_WORDS
const TABS = Object.keys(TAB_WORDS) as readonly Tab[]

const Graph = lazy(() => import('../../timeline/graph.tsx').then(({ Graph: Drawn }) => ({ default: Drawn })))

export function readTab(given: string | undefined): Tab {
  return TABS.find((tab) => tab === given) ?? 'timeline'
}

interface TabProps {
  readonly view: TransactionView
  readonly tab: Tab
}

export function TabBar({ view, tab }: TabProps) {
  const search = useSearch({ from: '/tx/$gid' })
  const entries = view.trail?.length ?? 0
  return (
    <nav className="tabs" aria-label="Views of the transaction">
      {TABS.map((each) => (
        <Link
          key={each}
          to="/tx/$gid"
          params={{ gid: view.gid }}
          search={each === 'timeline' ? keepChoice(search) : { ...keepChoice(search), tab: each }}
          activeOptions={{ exact: true, includeSearch: true }}
          aria-current={each === tab ? 'page' : undefined}
        >
          {TAB_WORDS[each]}
          {each === 'trail' && entries > 0 ? <span className="count">{entries}</span> : null}
        </Link>
      ))}
    </nav>
  )
}

/** A tab keeps what was chosen in the others. */
function keepChoice({ tab: _, ...chosen }: Readonly<Record<string, string>>): Record<string, string> {
  return chosen
}

export function TabContent({ view, tab }: TabProps) {
  switch (tab) {
    case 'graph':
      return (
        <Suspense fallback={<p className="quiet waiting">Drawing …</p>}>
          <Graph view={view} />
        </Suspense>
      )
    case 'table':
      return <OpTable view={view} />
    case 'request':
      return <RequestTab gid={view.gid} />
    case 'trail':
      return <Trail entries={view.trail ?? []} />
    case 'json':
      return <JsonView value={view} />
    default:
      return <TimelineTab view={view} />
  }
}
