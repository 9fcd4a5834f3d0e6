import { runRounds } from '../rounds.ts'
import { rowNamed, toRatio } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import { openOwnRow } from '../workflow/open-own-row.ts'
import { type OwnPostgres, openOwnPostgres } from '../workflow/own-postgres.ts'
import { dbos } from '../workflow/peers/dbos.ts'
import { openPeers } from '../workflow/peers/open-peers.ts'
import { restate } from '../workflow/peers/restate.ts'
import { sagaJob, workflowJob } from '../workflow/transfer-jobs.ts'
import type { TransferRow } from '../workflow/transfer-row.ts'

export const workflow: Scenario = {
  name: 'workflow',
  summary:
    'a workflow of two local steps (--branches) beside a saga of two branches with the same effects; with --peers beside Restate and DBOS',
  defaults: { accounts: 20_000 },
  async run(context) {
    const { harness, settings, progress } = context
    const postgres = await openOwnPostgres(harness)
    const host = await openStoreHost(harness, settings.store)
    const saga = await openOwnRow(context, host, postgres, { name: 'saga', toJob: sagaJob })
    const flow = await openOwnRow(context, host, postgres, { name: 'workflow', toJob: workflowJob })
    const peers = settings.peers
      ? await openPeers(context, postgres, [restate, dbos])
      : { rows: [], notes: [] }
    const opened: readonly TransferRow[] = [saga, flow, ...peers.rows]
    const rows = await runRounds(
      context,
      opened.map(({ plan }) => plan),
    )
    progress.show('auditing')
    const counters: Record<string, number> = {}
    for (const { plan, audit } of opened) {
      const { answers } = rowNamed(rows, plan.name)
      for (const [name, count] of Object.entries({ answers, ...(await audit(answers)) }))
        counters[`${plan.name} ${name}`] = count
    }
    const below = [saga, ...peers.rows].map(({ plan }) => plan.name)
    return {
      store: toStoreFacts(host, flow.server),
      rows,
      ratios: below.map((name) =>
        toRatio(`workflow/${name}`, rowNamed(rows, 'workflow'), rowNamed(rows, name)),
      ),
      counters,
      notes: [...placeNotes(postgres), ...peers.notes],
    }
  },
}

function placeNotes({ version, isInMemory }: OwnPostgres): readonly string[] {
  return [
    ...(isInMemory ? ['CAUTION: the accounts lie in memory, where a commit costs next to nothing'] : []),
    `the accounts are in a private PostgreSQL ${version}, one database for each row; each of its commits is flushed before it is answered`,
    'a step adds a cent to one account or takes one; audit: each answered transfer has changed each of its accounts once, and has a row of the barrier for each step',
    'saga: a call for each step; workflow: one call for up to eight; both have two durable writes in the store, and a database transaction with a row of the barrier for each step',
  ]
}
