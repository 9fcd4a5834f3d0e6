import type { BankBooks, Evidence } from '../evidence.ts'
import type { Violation } from './violation.ts'

/** I15. When all is over each transfer's cents have left one account for another, or nothing has moved. */
export function auditMoney({ banks }: Evidence): Violation[] {
  const initial = sumAccounts(banks, ({ initialCents }) => initialCents)
  const now = sumAccounts(banks, ({ balanceCents }) => balanceCents)
  const wrong = banks.flatMap((books, bank) => wrongBalances(books, bank))
  if (initial === now) return wrong
  const detail = `${initial} cents were there at first, now there are ${now}`
  return [...wrong, { invariant: 'I15', subject: 'all accounts', detail }]
}

function wrongBalances({ accounts, effects }: BankBooks, bank: number): Violation[] {
  const moved = new Map<string, number>()
  for (const { account, cents } of effects) moved.set(account, (moved.get(account) ?? 0) + cents)
  return accounts.flatMap(({ id, initialCents, balanceCents }) => {
    const expected = initialCents + (moved.get(id) ?? 0)
    if (balanceCents === expected) return []
    const detail = `bank ${bank} has ${balanceCents} cents on it, its ledger says ${expected}`
    return [{ invariant: 'I15', subject: id, detail }]
  })
}

function sumAccounts(
  banks: readonly BankBooks[],
  pick: (account: BankBooks['accounts'][number]) => number,
): number {
  return banks.reduce((sum, { accounts }) => sum + accounts.reduce((part, each) => part + pick(each), 0), 0)
}
