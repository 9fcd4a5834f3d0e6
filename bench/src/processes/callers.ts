// The callers of the hot row and the service that keeps it: one job at a time, over the channel to the harness.
import type { CallersJob } from '../scenarios/hot-row/callers-job.ts'
import { runCallers } from '../scenarios/hot-row/run-callers.ts'
import { type Serve, serveHotRow } from '../scenarios/hot-row/serve-hot-row.ts'

const services = new Map<string, Serve>()

function getService({ way, databaseUrl }: CallersJob): Serve {
  const known = services.get(databaseUrl)
  if (known !== undefined) return known
  const made = serveHotRow(way, databaseUrl)
  services.set(databaseUrl, made)
  return made
}

process.on('message', (job: CallersJob) => {
  void runCallers(job, getService(job)).then((result) => process.send?.(result))
})
// It listens nowhere: only the channel keeps it alive.
process.channel?.ref()
process.on('SIGTERM', () => process.exit(0))
