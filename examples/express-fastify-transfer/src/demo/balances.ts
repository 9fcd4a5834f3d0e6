import type { ServiceUrls } from '../transfer.ts'

const ANSWER_MS_MAX = 5_000

/** Cents by account, of both services. */
export type Balances = ReadonlyMap<string, number>

interface Account {
  readonly id: string
  readonly cents: number
}

export async function readBalances({ debitUrl, creditUrl }: ServiceUrls): Promise<Balances> {
  const accounts = [...(await readAccounts(debitUrl)), ...(await readAccounts(creditUrl))]
  return new Map(accounts.map(({ id, cents }) => [id, cents]))
}

async function readAccounts(url: string): Promise<readonly Account[]> {
  const response = await fetch(`${url}/accounts`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
  if (!response.ok) throw new Error(`${url}/accounts answers ${response.status}`)
  return (await response.json()) as readonly Account[]
}

export function addUp(balances: Balances): number {
  return [...balances.values()].reduce((sum, cents) => sum + cents, 0)
}

export function money(cents: number): string {
  return (cents / 100).toFixed(2)
}

export function balanceTable(before: Balances, after: Balances): string {
  const row = (account: string, was: string, is: string) =>
    `  ${account.padEnd(8)}${was.padStart(12)}${is.padStart(12)}`
  const rows = [...after].map(([account, cents]) =>
    row(account, money(before.get(account) ?? 0), money(cents)),
  )
  return [row('account', 'before', 'after'), ...rows].join('\n')
}
