import type { Scenario } from '../scenario.ts'
import { storeFactsOf } from '../stores/open-store-host.ts'
import { COLUMNS_BY_HAND } from '../transfer/columns.ts'
import { openTransferBed } from '../transfer/transfer-bed.ts'
import { ratioBetween, TransferRun } from '../transfer/transfer-run.ts'

export const transferByHand: Scenario = {
  name: 'transfer-by-hand',
  summary:
    'transfer by plain programs in place of orchestrator and barrier, and with services that do nothing: what the writes and calls alone cost',
  defaults: { store: 'mysql', connections: 20, seconds: 1, warmUpSeconds: 0.2 },
  async run(context) {
    const bed = await openTransferBed(context, COLUMNS_BY_HAND)
    const run = new TransferRun(context, bed, COLUMNS_BY_HAND)
    await run.warmUp()
    const rows = await run.rounds([])
    const ratio = ratioBetween<(typeof COLUMNS_BY_HAND)[number]['name']>
    return {
      store: storeFactsOf(bed.host, bed.server),
      rows,
      ratios: [
        ratio(rows, 'storing/none-2sql', 'hand-storing-2sql', 'hand-none-2sql'),
        ratio(rows, 'noted/none-2sql', 'hand-noted-2sql', 'hand-none-2sql'),
        ratio(rows, 'batched/none-2sql', 'hand-batched-2sql', 'hand-none-2sql'),
        ratio(rows, 'idle/none-2sql', 'hand-idle', 'hand-none-2sql'),
        ratio(rows, 'storing/none-10sql', 'hand-storing-10sql', 'hand-none-10sql'),
        ratio(rows, 'noted/none-10sql', 'hand-noted-10sql', 'hand-none-10sql'),
      ],
      counters: await run.audit(),
      notes: NOTES,
    }
  },
}

const NOTES = [
  'storing: in the orchestrator’s place a relay that writes twice into the same store, by the store’s own package, and does nothing else that an orchestrator does; beside it: saga/none',
  'noted: besides, each service inserts one row of the barrier’s table in its own transaction, by hand; beside it: barrier/none',
  'batched: as noted, but what comes while a transaction is under way becomes the next one, of three statements for all; beside it: grouped/none',
  'idle: the storing relay, and services that answer at once and write nothing: what two writes and the calls alone leave',
]
