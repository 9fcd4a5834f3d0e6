// node testing/chaos/src/overload/main.ts [--seconds N] [--json]: five times more than there is capacity for, and what is left
// of it. Exits with 1 when a figure is missed. The figures mean something only while nothing else computes.
import { parseArgs } from 'node:util'
import { overloadTable } from './overload-table.ts'
import { type OverloadReport, runOverload } from './run-overload.ts'

/** 500 sagas a second, of two branches that take 50 ms each. */
const CALLS_IN_FLIGHT_MAX = 50
const CALM_SECONDS = 5
const AFTER_SECONDS = 10
const GOODPUT_SHARE_MIN = 0.8
const REFUSED_P99_MS_MAX = 50
/** Some 512 connections come with the overload; what is meant is that it has a bound. */
const GROWTH_BYTES_MAX = 256 * 1024 * 1024
const SETTLED_MS_MAX = 5_000

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

/** Lists the goals that the run on demand has missed, each in one sentence. */
function findOverloadMisses(report: OverloadReport): readonly string[] {
  const { overload, audit, capacityPerSecond } = report
  const goodput = overload.goodputPerSecond / capacityPerSecond
  const missed: readonly (readonly [boolean, string])[] = [
    [goodput < GOODPUT_SHARE_MIN, `goodput is under ${100 * GOODPUT_SHARE_MIN} % of the capacity`],
    [overload.refused === 0, 'nothing was refused: it was no overload'],
    [(overload.refusedP99Ms ?? 0) > REFUSED_P99_MS_MAX, `refusals took over ${REFUSED_P99_MS_MAX} ms at p99`],
    [overload.withoutRetryAfter > 0, 'refusals came without Retry-After'],
    [(report.growthBytes ?? 0) > GROWTH_BYTES_MAX, 'the server grew by over 256 MiB'],
    [report.settledAfterMs > SETTLED_MS_MAX, `it was not normal again within ${SETTLED_MS_MAX} ms`],
    [audit.lost + audit.unfinishedWork > 0, 'what was accepted was lost'],
    [audit.refusedThatRan > 0, 'what was refused has run'],
    [audit.unclear > 0, 'there were answers that leave it open'],
  ]
  return missed.filter(([isMissed]) => isMissed).map(([, sentence]) => `MISSED: ${sentence}`)
}
