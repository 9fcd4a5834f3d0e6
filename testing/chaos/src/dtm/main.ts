import { parseArgs } from 'node:util'
import { progressOn } from '../bank/report/progress.ts'
import { STORES } from '../settings.ts'
import { formatDtmLine, formatDtmResult } from './print-dtm-result.ts'
import { runDtm } from './run-dtm.ts'
import { PLANTED_FAULTS } from './service/planted-fault.ts'

const USAGE = `npm run chaos:dtm -- [--store ${STORES.join('|')}] [--transactions N] [--kills K] [--seed S] [--fault ${PLANTED_FAULTS.join('|')}]`
const MAX = 999_999_999

const text = { type: 'string' } as const
const { values } = parseArgs({
  options: {
    store: text,
    transactions: text,
    kills: text,
    seed: text,
    fault: text,
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(`${USAGE}\n`)
  process.exit(0)
}

try {
  const settings = {
    store: pick('store', STORES, values.store ?? 'sqlite'),
    transactions: readNumber('transactions', values.transactions ?? '1000'),
    kills: readNumber('kills', values.kills ?? '10'),
    seed: readNumber('seed', values.seed ?? String(Date.now() % MAX)),
    fault: pick('fault', PLANTED_FAULTS, values.fault ?? 'none'),
  }
  const { result, keptFolder } = await runDtm(settings, progressOn(process.stderr))
  process.stdout.write(`${formatDtmResult(result)}\n`)
  if (keptFolder !== undefined) process.stdout.write(`logs and files are kept in ${keptFolder}\n`)
  process.stdout.write(`${formatDtmLine(result)}\n`)
  process.exit(keptFolder === undefined ? 0 : 1)
} catch (error: unknown) {
  const { stack, cause } = error instanceof Error ? error : new Error(String(error))
  process.stderr.write(`chaos: ${stack}\n${cause instanceof Error ? `${cause.stack}\n` : ''}`)
  // Clients of a run that broke off would go on with what is no longer there.
  process.exit(1)
}

function pick<Name extends string>(flag: string, names: readonly Name[], given: string): Name {
  const found = names.find((name) => name === given)
  if (found === undefined) throw new Error(`--${flag} ${given}: there are ${names.join(', ')}`)
  return found
}

function readNumber(flag: string, given: string): number {
  if (!/^\d{1,9}$/.test(given)) throw new Error(`--${flag} ${given}: expected a whole number`)
  return Number(given)
}
