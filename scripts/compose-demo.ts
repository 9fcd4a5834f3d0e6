// The one-shot service `demo` of infra/compose.yaml runs this: a transfer that succeeds, and one that is undone.
import { readFileSync } from 'node:fs'
import { createClient } from '@counterstep/sdk'
import { type Bank, readBalances } from './demo/bank-client.ts'
import { playTransfer } from './demo/play-transfer.ts'
import { balanceTable, money, sumBalances, wrongBalances } from './demo/report.ts'
import { transferThatFails, transferThatSucceeds } from './demo/transfer.ts'

const AMOUNT_CENTS = 2_500
const BANKS = ['bank-a', 'bank-b'] as const
/** The orchestrator is given these names, which only it can resolve. */
const [bankA, bankB] = BANKS.map((name) => ({ name, url: `${name}:` })) as [Bank, Bank]

async function main(): Promise<number> {
  const client = createClient({
    url: needed('COUNTERSTEP_URL'),
    apiKey: readFileSync(needed('COUNTERSTEP_API_KEY_FILE'), 'utf8').trim(),
  })
  const reachable = BANKS.map((name) => ({
    name,
    url: needed(`${name.toUpperCase().replace('-', '_')}_URL`),
  }))
  const before = await readBalances(reachable)
  const good = transferThatSucceeds(bankA, bankB, before, AMOUNT_CENTS)
  const bad = transferThatFails(bankA, bankB, AMOUNT_CENTS)
  const faults = [
    ...(await playTransfer(client, { title: 'A transfer', transfer: good, ends: 'succeeded' }, print)),
    ...(await playTransfer(client, { title: 'One that is refused', transfer: bad, ends: 'failed' }, print)),
  ]
  const after = await readBalances(reachable)
  print(`\n${balanceTable(before, after)}\n`)
  faults.push(...wrongBalances(before, after, [good]))
  for (const fault of faults) print(`✗ ${fault}`)
  if (faults.length === 0) print(`✓ All balances are right; the sum is still ${money(sumBalances(after))}.`)
  return faults.length === 0 ? 0 : 1
}

function needed(variable: string): string {
  const value = process.env[variable]
  if (value === undefined || value === '') throw new Error(`Set ${variable}.`)
  return value
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

process.exitCode = await main()
