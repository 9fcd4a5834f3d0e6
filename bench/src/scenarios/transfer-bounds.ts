import type { Scenario } from '../scenario.ts'
import { storeFactsOf } from '../stores/open-store-host.ts'
import { BOUND_COLUMNS } from '../transfer/columns.ts'
import { openTransferBed } from '../transfer/transfer-bed.ts'
import { ratioBetween, TransferRun } from '../transfer/transfer-run.ts'

export const transferBounds: Scenario = {
  name: 'transfer-bounds',
  summary:
    'transfer with plain programs in place of orchestrator and barrier, and with services that do nothing: what the ratios of transfer could be at most',
  defaults: { store: 'mysql', connections: 20, seconds: 1, warmUpSeconds: 0.2 },
  async run(context) {
    const bed = await openTransferBed(context, BOUND_COLUMNS)
    const run = new TransferRun(context, bed, BOUND_COLUMNS)
    await run.warmUp()
    const rows = await run.rounds([])
    const ratio = ratioBetween<(typeof BOUND_COLUMNS)[number]['name']>
    return {
      store: storeFactsOf(bed.host, bed.server),
      rows,
      ratios: [
        ratio(rows, 'storing/none-2sql', 'bound-storing-2sql', 'bound-none-2sql'),
        ratio(rows, 'noted/none-2sql', 'bound-noted-2sql', 'bound-none-2sql'),
        ratio(rows, 'batched/none-2sql', 'bound-batched-2sql', 'bound-none-2sql'),
        ratio(rows, 'idle/none-2sql', 'bound-idle', 'bound-none-2sql'),
        ratio(rows, 'storing/none-10sql', 'bound-storing-10sql', 'bound-none-10sql'),
        ratio(rows, 'noted/none-10sql', 'bound-noted-10sql', 'bound-none-10sql'),
      ],
      counters: await run.audit(),
      notes: NOTES,
    }
  },
}

const NOTES = [
  'storing: in the orchestrator’s place a relay that writes twice into the same store, by the store’s own package, and does nothing else that an orchestrator does; a bound of saga/none',
  'noted: besides, each service inserts one row of the barrier’s table in its own transaction, by hand; a bound of barrier/none',
  'batched: as noted, but what comes while a transaction is under way becomes the next one, of three statements for all; a bound of grouped/none',
  'idle: the storing relay, and services that answer at once and write nothing: what two writes and the calls alone leave',
]
