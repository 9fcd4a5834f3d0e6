// node scripts/run.mjs testing/chaos/src/hanging-bank/main.ts [--rounds N] [--seconds N] [--json]: what two banks lose while a
// third one hangs, and 6,000 sagas wait for it that may wait for 15 min. Exits with 1 when a figure is missed.
import { parseArgs } from 'node:util'
import { findHangingBankMisses, hangingBankTable, healthyShare } from './hanging-bank-figures.ts'
import { runHangingBank } from './run-hanging-bank.ts'

/** More than a server with the default settings holds at once. */
const FLOOD = 6_000
const HEALTHY_CALLERS = 32

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '10' },
    json: { type: 'boolean', default: false },
  },
})
const report = await runHangingBank({
  healthyCallers: HEALTHY_CALLERS,
  rounds: Number(values.rounds),
  roundSeconds: Number(values.seconds),
  flood: FLOOD,
})
const missed = findHangingBankMisses(report)
process.stdout.write(
  `${values.json ? JSON.stringify({ ...report, healthyShare: healthyShare(report), missed }) : [hangingBankTable(report), ...missed].join('\n')}\n`,
)
process.exitCode = missed.length === 0 ? 0 : 1
