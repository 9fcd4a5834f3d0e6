// node testing/chaos/src/overload/main.ts [--seconds N] [--json]: five times more than there is capacity for, and what is left
// of it. Exits with 1 when a figure is missed. The figures mean something only while nothing else computes.
import { parseArgs } from 'node:util'
import { findOverloadMisses } from './overload-figures.ts'
import { overloadTable } from './overload-table.ts'
import { runOverload } from './run-overload.ts'

/** 500 sagas a second, of two branches that take 50 ms each. */
const CALLS_IN_FLIGHT_MAX = 50
const CALM_SECONDS = 5
const AFTER_SECONDS = 10

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '15' }, json: { type: 'boolean', default: false } },
})
const overloadSeconds = Number(values.seconds)
if (!(overloadSeconds >= 1)) throw new RangeError('--seconds must be a number from 1')

const report = await runOverload({
  callsInFlightMax: CALLS_IN_FLIGHT_MAX,
  calmSeconds: CALM_SECONDS,
  overloadSeconds,
  afterSeconds: AFTER_SECONDS,
})
const missed = findOverloadMisses(report)
process.stdout.write(
  `${values.json ? JSON.stringify({ ...report, missed }) : [overloadTable(report), ...missed].join('\n')}\n`,
)
process.exitCode = missed.length === 0 ? 0 : 1
