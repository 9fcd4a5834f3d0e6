/** A bank of the demo, by its name and the URL under which it listens. */
export interface Bank {
  readonly name: string
  readonly url: string
}

/** Cents by "account at bank", in the order of banks and accounts. */
export type Balances = ReadonlyMap<string, number>

interface AccountList {
  readonly items: readonly { readonly id: string; readonly balanceCents: number }[]
}

export async function readBalances(banks: readonly Bank[]): Promise<Balances> {
  const balances = new Map<string, number>()
  for (const { name, url } of banks) {
    const response = await fetch(`${url}/accounts`, { signal: AbortSignal.timeout(5_000) })
    if (!response.ok) throw new Error(`${name} answers ${response.status} when asked for its accounts.`)
    const { items } = (await response.json()) as AccountList
    for (const { id, balanceCents } of items) balances.set(toKey(id, name), balanceCents)
  }
  return balances
}

export function toKey(account: string, bankName: string): string {
  return `${account} at ${bankName}`
}
