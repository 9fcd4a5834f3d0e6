import type { OverviewView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { useLive } from '../../api/live.ts'
import { overviewQuery } from '../../api/queries.ts'
import { Age, TimeOfDay } from '../../parts/instant.tsx'
import { Trouble } from '../../parts/notice.tsx'
import '../../style/overview.css'
import { Backlog, EndToEnd, Outcomes } from './cards.tsx'
import { Consistency } from './consistency.tsx'
import { MostFailed, Refused, Slowest, WorstServices } from './figures.tsx'
import { Nodes } from './nodes.tsx'
import { RecentTransactions } from './recent.tsx'
import { Throughput } from './throughput.tsx'

/** Whether all is consistent, what is slow, and what fails: every number leads to the transactions behind it. */
export function Overview() {
  const live = useLive(['overview'])
  const { data, error, refetch } = useQuery(overviewQuery(live === 'live'))
  if (data === undefined && error !== null) {
    return (
      <>
        <Trouble error={error} what="an overview" onRetry={() => void refetch()} />
        <RecentTransactions />
      </>
    )
  }
  if (data === undefined) return <p className="quiet waiting">Reading …</p>
  return (
    <section className="overview">
      <h1 className="unseen">Overview</h1>
      <StoreLine view={data} />
      {error === null ? null : <Trouble error={error} what="what is newer" onRetry={() => void refetch()} />}
      <div className="cards">
        <Consistency view={data} />
        <Throughput view={data} />
        <Outcomes minutes={data.minutes} />
        <EndToEnd latency={data.latency} />
        <Backlog view={data} />
        <Nodes view={data} />
        <Slowest names={data.slowestNames} />
        <MostFailed names={data.mostFailedNames} />
        <WorstServices services={data.worstServices} />
        <Refused refusals={data.refusedSubmits} />
      </div>
      <RecentTransactions />
    </section>
  )
}

function StoreLine({ view: { nodes, store, since } }: { readonly view: OverviewView }) {
  const up = nodes.filter(({ state }) => state === 'up').length
  return (
    <p className="store-line quiet">
      <span>
        {up} of {nodes.length} {nodes.length === 1 ? 'node' : 'nodes'}
      </span>
      <span>
        {store.name}, class {store.durabilityClass}, failover {store.failover}
      </span>
      <span>
        since <TimeOfDay at={since} />
      </span>
      {store.state === 'away' ? (
        <strong className="bad">
          the store is away: its figures are from <Age at={store.asOf} />
        </strong>
      ) : null}
    </p>
  )
}
