import { parseArgs } from 'node:util'
import type { AccountSeed } from './accounts.ts'
import { buildBank, DEMO_ACCOUNTS } from './build-bank.ts'

const ACCOUNTS_MAX = 1_000_000
// Longer than any call should still take; then the process ends with what is left.
const STOP_MS_MAX = 5_000

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '0' },
    data: { type: 'string' },
    name: { type: 'string', default: 'bank' },
    /** Besides the demo accounts: account-1 … account-N, each with --balance cents. */
    accounts: { type: 'string', default: '0' },
    balance: { type: 'string', default: '1000000' },
    durability: { type: 'string', default: 'full' },
  },
})
if (values.data === undefined) throw new RangeError('--data FILE is needed')

const app = buildBank({
  path: values.data,
  name: values.name,
  accounts: [
    ...DEMO_ACCOUNTS,
    ...numberedAccounts(
      wholeNumber('accounts', values.accounts, ACCOUNTS_MAX),
      wholeNumber('balance', values.balance, Number.MAX_SAFE_INTEGER),
    ),
  ],
  durability: values.durability === 'normal' ? 'normal' : 'full',
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    setTimeout(() => process.exit(1), STOP_MS_MAX).unref()
    void app.close()
  })
}

const url = await app.listen({ host: values.host, port: wholeNumber('port', values.port, 65_535) })
process.stdout.write(`${JSON.stringify({ name: values.name, url })}\n`)

function numberedAccounts(count: number, balanceCents: number): AccountSeed[] {
  return Array.from({ length: count }, (_, index) => ({ id: `account-${index + 1}`, balanceCents }))
}

function wholeNumber(name: string, text: string, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > max) throw new RangeError(`--${name} must be a number from 0 to ${max}`)
  return value
}
