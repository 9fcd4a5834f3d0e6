import type { FinalStatus } from '@counterstep/sdk'
import { submitTransfer, type Transfer, transferSaga } from '../transfer.ts'
import { addUp, type Balances, balanceTable, money, readBalances } from './balances.ts'
import { timeline } from './timeline.ts'
import type { Services } from './with-services.ts'

interface Scene {
  readonly title: string
  readonly transfer: Transfer
  readonly ends: FinalStatus
}

const CENTS = 2_500

const SCENES: readonly Scene[] = [
  {
    title: 'alice sends bob 25.00',
    transfer: { from: 'alice', to: 'bob', cents: CENTS },
    ends: 'succeeded',
  },
  {
    title: 'alice sends dora 25.00, whose account is frozen: the debit is undone',
    transfer: { from: 'alice', to: 'dora', cents: CENTS },
    ends: 'failed',
  },
  {
    title: 'carol sends bob 25.00, and has 10.00: nothing is done',
    transfer: { from: 'carol', to: 'bob', cents: CENTS },
    ends: 'failed',
  },
]

/** Plays the three transfers, and answers what was not as it should be. */
export async function playTransfers(
  services: Services,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<string[]> {
  const faults: string[] = []
  const before = await readBalances(services)
  for (const { title, transfer, ends } of SCENES) {
    // Only here: a transfer that is under way has to end, or its money would be nowhere.
    signal.throwIfAborted()
    print(`\n${title}`)
    const view = await submitTransfer(services.client, transferSaga(transfer, services))
    print(timeline(view))
    if (view.status !== ends) faults.push(`${view.gid} should have ${ends} and is ${view.status}`)
  }
  const after = await readBalances(services)
  print(`\n${balanceTable(before, after)}\n`)
  faults.push(...wrongBalances(before, after))
  for (const fault of faults) print(`✗ ${fault}`)
  if (faults.length === 0) print(`✓ Money is conserved: ${money(addUp(before))} before and after.`)
  return faults
}

/** Only the transfers that should have succeeded may have left a trace. */
function wrongBalances(before: Balances, after: Balances): string[] {
  const expected = new Map(before)
  for (const { transfer, ends } of SCENES) {
    if (ends !== 'succeeded') continue
    const { from, to, cents } = transfer
    expected.set(from, (expected.get(from) ?? 0) - cents)
    expected.set(to, (expected.get(to) ?? 0) + cents)
  }
  return [...expected]
    .filter(([account, cents]) => after.get(account) !== cents)
    .map(
      ([account, cents]) =>
        `${account} should have ${money(cents)} and has ${money(after.get(account) ?? 0)}`,
    )
}
