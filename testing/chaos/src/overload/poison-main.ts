// node testing/chaos/src/overload/poison-main.ts [--rounds N] [--seconds N] [--json]: what every tenth saga, whose compensation
// always fails, costs the nine others. Exits with 1 when a figure is missed.
import { parseArgs } from 'node:util'
import { findPoisonMisses, healthyShare, poisonTable } from './poison-figures.ts'
import { runPoison } from './run-poison.ts'

/** The branches take 50 ms, which makes some 450 sagas a second. */
const HEALTHY_CALLERS = 50

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '10' },
    json: { type: 'boolean', default: false },
  },
})
const report = await runPoison({
  healthyCallers: HEALTHY_CALLERS,
  rounds: Number(values.rounds),
  roundSeconds: Number(values.seconds),
})
const missed = findPoisonMisses(report)
process.stdout.write(
  `${values.json ? JSON.stringify({ ...report, healthyShare: healthyShare(report), missed }) : [poisonTable(report), ...missed].join('\n')}\n`,
)
process.exitCode = missed.length === 0 ? 0 : 1
