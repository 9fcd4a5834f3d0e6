import { describeProblem } from '@counterstep/explain'
import type { ProblemView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { problemsQuery } from '../../api/queries.ts'
import { Age } from '../../parts/instant.tsx'
import { Notice, Trouble } from '../../parts/notice.tsx'
import { useHeldOrder } from '../../parts/use-held-order.ts'
import '../../style/problems.css'
import { type CountedProblem, countProblems, type ProblemTab, selectProblems } from './select-problems.ts'
import { Waiting } from './waiting.tsx'

/** All that waits for the same reason is one row, however many transactions it is. */
export function Problems() {
  useLive(['fresh'])
  const search = useSearch({ from: '/problems' })
  const tab: ProblemTab = search.tab === 'retrying' ? 'retrying' : 'attention'
  const { data, error, refetch } = useQuery(problemsQuery)
  if (data === undefined && error !== null) {
    return <Trouble error={error} what="problems" onRetry={() => void refetch()} />
  }
  if (data === undefined) return <p className="quiet waiting">Reading …</p>
  const shown = selectProblems(data.items, tab)
  // The link of an alert names its problem. What has been mended meanwhile is not there any more.
  const named = search.problem
  return (
    <section className="problems">
      <h1>Problems</h1>
      <nav className="tabs" aria-label="Kinds of problem">
        <TabLink tab="attention" current={tab} words="Need a person" items={data.items} />
        <TabLink tab="retrying" current={tab} words="Retrying" items={data.items} />
      </nav>
      {shown.length === 0 ? (
        <NoProblem tab={tab} retrying={countProblems(data.items, 'retrying')} />
      ) : (
        <Groups key={`${tab} ${named ?? ''}`} items={shown} tab={tab} named={named} />
      )}
      <p className="quiet">
        Counts are of all nodes, read <Age at={data.asOf} />. A row leaves when its next answer is a success,
        not when a command was given.
      </p>
    </section>
  )
}

interface TabLinkProps {
  readonly tab: ProblemTab
  readonly current: ProblemTab
  readonly words: string
  readonly items: readonly ProblemView[]
}

function TabLink({ tab, current, words, items }: TabLinkProps) {
  const count = countProblems(items, tab)
  return (
    <Link
      to="/problems"
      search={{ tab }}
      activeOptions={{ exact: true, includeSearch: true }}
      aria-current={tab === current ? 'page' : undefined}
    >
      {words} <span className="count">{count.toLocaleString()}</span>
    </Link>
  )
}

/** That nothing needs a person does not mean that all is well: a call may be made again and again for nothing. */
function NoProblem({ tab, retrying }: { readonly tab: ProblemTab; readonly retrying: number }) {
  if (tab === 'retrying') {
    return (
      <Notice title="Nothing is being retried">
        <p>Every call has been answered.</p>
      </Notice>
    )
  }
  return (
    <Notice title="Nothing needs a person now">
      {retrying === 0 ? (
        <p>Nothing is being retried either.</p>
      ) : (
        <p>
          {retrying.toLocaleString()} {retrying === 1 ? 'waits and is' : 'wait and are'} called again: see{' '}
          <Link to="/problems" search={{ tab: 'retrying' }}>
            Retrying
          </Link>
        </p>
      )}
    </Notice>
  )
}

function Groups({
  items,
  tab,
  named,
}: {
  readonly items: ReturnType<typeof selectProblems>
  readonly tab: ProblemTab
  readonly named: string | undefined
}) {
  const { shown, hold } = useHeldOrder(items, ({ problem }) => problem)
  return (
    <ul className="groups" {...hold}>
      {shown.map(({ item, isGone }) => (
        <li key={item.problem}>
          <Group
            problem={isGone ? { ...item, count: 0 } : item}
            tab={tab}
            isFirstOpen={items.length === 1 || item.problem === named}
          />
        </li>
      ))}
    </ul>
  )
}

interface GroupProps {
  readonly problem: CountedProblem
  readonly tab: ProblemTab
  readonly isFirstOpen: boolean
}

/** The details of a problem are asked for only once it is opened. */
function Group({ problem: { problem, count, oldestAt }, tab, isFirstOpen }: GroupProps) {
  const [isOpen, open] = useState(isFirstOpen)
  return (
    <details name="problem" open={isOpen} onToggle={(event) => open(event.currentTarget.open)}>
      <summary>
        <span className="group-name" title={problem}>
          {problem}
        </span>
        <span className="group-count">{count.toLocaleString()}</span>
        <span className="group-age quiet">
          oldest <Age at={oldestAt} />
        </span>
      </summary>
      <p>{describeProblem(problem).headline}</p>
      <p className="advice">{describeProblem(problem).advice}</p>
      {isOpen ? <Waiting problem={problem} tab={tab} count={count} /> : null}
    </details>
  )
}
