import { listLanes } from '@counterstep/explain'
import type { TransactionView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { useLive } from '../../api/live.ts'
import { transactionQuery } from '../../api/queries.ts'
import { CommandDialog } from '../../commands/command-dialog.tsx'
import type { CommandTarget } from '../../commands/command-target.ts'
import { Notice, ProblemText, Trouble } from '../../parts/notice.tsx'
import '../../style/transaction.css'
import { chooseLane } from './choose-lane.ts'
import { OpPanel } from './op-panel.tsx'
import { readTab, TabBar, TabContent } from './tabs.tsx'
import { Trail } from './trail.tsx'
import { TransactionHead } from './transaction-head.tsx'
import { useRetryKey } from './use-retry-key.ts'
import { Why } from './why.tsx'

export function Transaction() {
  const { gid } = useParams({ from: '/tx/$gid' })
  const live = useLive([], gid)
  const { data: view, error, refetch } = useQuery(transactionQuery(gid, live === 'live'))
  if (view === undefined && error instanceof ApiError && error.code === 'SAGA_UNKNOWN_GID') {
    return (
      <article className="transaction">
        <h1 title={gid}>{gid}</h1>
        <Notice title="There is no such transaction">
          <p>It was never accepted here, or its retention has ended.</p>
        </Notice>
      </article>
    )
  }
  if (view === undefined && error !== null) {
    return <Trouble error={error} what="the transaction" onRetry={() => void refetch()} />
  }
  if (view === undefined) return <p className="quiet waiting">Reading {gid} …</p>
  return <Shown key={gid} view={view} error={error} />
}

function Shown({ view, error }: { readonly view: TransactionView; readonly error: Error | null }) {
  const [given, setGiven] = useState<CommandTarget>()
  const search = useSearch({ from: '/tx/$gid' })
  const tab = readTab(search.tab)
  const lanes = listLanes(view)
  const chosen = lanes.find(({ id }) => id === (search.op ?? chooseLane(view)))
  useRetryKey(view, setGiven)
  return (
    <article className="transaction">
      <TransactionHead view={view} onCommand={setGiven} />
      {error === null ? null : <ProblemText error={error} />}
      <Why view={view} />
      <TabBar view={view} tab={tab} />
      <TabContent view={view} tab={tab} />
      <div className="tx-lower">
        {chosen === undefined ? null : <OpPanel view={view} lane={chosen} onCommand={setGiven} />}
        {tab === 'trail' || view.trail === undefined ? null : <Trail entries={view.trail} />}
      </div>
      {given === undefined ? null : (
        <CommandDialog
          key={JSON.stringify(given)}
          target={given}
          view={view}
          onClose={() => setGiven(undefined)}
        />
      )}
    </article>
  )
}
