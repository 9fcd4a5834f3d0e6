import type { Balances } from './bank-client.ts'
import { toKey } from './bank-client.ts'
import type { Transfer } from './transfer.ts'

export function money(cents: number): string {
  return (cents / 100).toFixed(2)
}

export function describeTransfer({ from, fromAccount, to, toAccount, amountCents }: Transfer): string {
  return `${money(amountCents)} from ${toKey(fromAccount, from.name)} to ${toKey(toAccount, to.name)}`
}

/** Every account with its balance before and after. */
export function balanceTable(before: Balances, after: Balances): string {
  const names = [...new Set([...before.keys(), ...after.keys()])]
  const width = Math.max(...names.map((name) => name.length), 'account'.length)
  const row = (...[name, ...cells]: readonly string[]) =>
    `  ${name?.padEnd(width)}${cells.map((cell) => cell.padStart(12)).join('')}`
  return [
    row('account', 'before', 'after', 'change'),
    ...names.map((name) => {
      const [old, now] = [before.get(name) ?? 0, after.get(name) ?? 0]
      const change = now - old
      return row(
        name,
        money(old),
        money(now),
        change === 0 ? '·' : `${change > 0 ? '+' : ''}${money(change)}`,
      )
    }),
  ].join('\n')
}

/**
 * Compares the balances with those that the successful transfers must leave: a line for each wrong account, none when
 * all is right.
 */
export function wrongBalances(before: Balances, after: Balances, done: readonly Transfer[]): string[] {
  const expected = new Map(before)
  const add = (key: string, cents: number) => expected.set(key, (expected.get(key) ?? 0) + cents)
  for (const { from, fromAccount, to, toAccount, amountCents } of done) {
    add(toKey(fromAccount, from.name), -amountCents)
    add(toKey(toAccount, to.name), amountCents)
  }
  return [...new Set([...expected.keys(), ...after.keys()])]
    .filter((key) => expected.get(key) !== after.get(key))
    .map((key) => `${key} should have ${money(expected.get(key) ?? 0)} and has ${money(after.get(key) ?? 0)}`)
}

export function sumBalances(balances: Balances): number {
  return [...balances.values()].reduce((sum, cents) => sum + cents, 0)
}
