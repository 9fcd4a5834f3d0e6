// node testing/chaos/src/hostile/main.ts: what an orchestrator makes of each hostile behaviour, and how long its attempts took.
import { overshootMsMax, summarize } from './hostile-table.ts'
import { runHostilePass } from './run-pass.ts'

const OVERSHOOT_MS_MAX = 500
const GROWTH_BYTES_MAX = 100 * 1024 * 1024

const report = await runHostilePass()
const missed = [
  ...(report.breaches.length > 0 ? ['a transaction came to a wrong end'] : []),
  ...(report.strayed > 0 ? ['a redirect was followed'] : []),
  ...(overshootMsMax(report) > OVERSHOOT_MS_MAX ? [`an attempt went over by ${OVERSHOOT_MS_MAX} ms`] : []),
  ...((report.growthBytes ?? 0) > GROWTH_BYTES_MAX ? ['the server grew by over 100 MiB'] : []),
]
process.stdout.write(
  `${[summarize(report), ...missed.map((sentence) => `MISSED: ${sentence}`)].join('\n')}\n`,
)
process.exitCode = missed.length === 0 ? 0 : 1
