import type { Scenario } from '../scenario.ts'
import { COLUMNS_BY_HAND } from '../transfer/columns.ts'
import { measureTransfers, ratiosBetween } from '../transfer/measure-transfers.ts'
import { openTransferBed } from '../transfer/transfer-bed.ts'

export const transferByHand: Scenario = {
  name: 'transfer-by-hand',
  summary:
    'transfer by plain programs in place of orchestrator and barrier, and with services that do nothing: what the writes and calls alone cost',
  defaults: { store: 'mysql', connections: 20, seconds: 1, warmUpSeconds: 0.2 },
  async run(context) {
    const names = COLUMNS_BY_HAND.map(({ name }) => name)
    const bed = await openTransferBed(context, names)
    const measured = await measureTransfers(context, bed, COLUMNS_BY_HAND)
    const ratio = ratiosBetween(measured.rows)
    return {
      ...measured,
      ratios: [
        ratio('storing/none-2sql', 'storing-2sql', 'none-2sql'),
        ratio('noted/none-2sql', 'noted-2sql', 'none-2sql'),
        ratio('batched/none-2sql', 'batched-2sql', 'none-2sql'),
        ratio('idle/none-2sql', 'idle', 'none-2sql'),
        ratio('storing/none-10sql', 'storing-10sql', 'none-10sql'),
        ratio('noted/none-10sql', 'noted-10sql', 'none-10sql'),
      ],
      notes: [...measured.notes, ...NOTES],
    }
  },
}

const NOTES = [
  'storing: in the orchestrator’s place a relay that writes twice into the same store, by the store’s own package, and does nothing else that an orchestrator does; beside it: saga/none',
  'noted: besides, each service inserts one row of the barrier’s table in its own transaction, by hand; beside it: barrier/none',
  'batched: as noted, for many calls in one transaction of three statements; no answer is kept and no balance looked at; beside it: grouped/none',
  'idle: the storing relay, and services that answer and do nothing: what two writes and the calls alone leave',
  'none of these programs is the fastest possible, so none is a bound',
]
