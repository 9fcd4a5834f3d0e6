import { createLogger } from '@counterstep/server'
import type { ServeConfig } from '../config.ts'
import { followNpm } from '../follow-npm.ts'
import { onStopSignals } from '../stop-signals.ts'
import { Supervisor } from './supervisor.ts'

/** A stop that takes longer is cut short. Each worker cuts its own before that. */
const STOP_MS_MAX = 9_800

/** Runs the processes of one server. The settings are read by each of them anew, so a restart takes up what has changed. */
export function runSupervisor({ processes, logLevel, readyJson, isStartedByNpm }: ServeConfig): void {
  const logger = createLogger({ level: logLevel })
  // If the reader of our output has gone, only log lines are lost, so the process goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  const supervisor = new Supervisor({
    processes,
    logger,
    onReady(urls) {
      logger.info({ ...urls, processes }, 'all processes listen')
      if (readyJson) process.stdout.write(`${JSON.stringify(urls)}\n`)
    },
    onEnd(code) {
      logger.info({}, 'all processes have stopped')
      process.exit(code)
    },
  })
  onStopSignals(
    process,
    (reason) => {
      logger.info({ signal: reason }, 'stopping all processes')
      supervisor.stop(reason)
      setTimeout(() => supervisor.kill(), STOP_MS_MAX).unref()
    },
    (code) => process.exit(code),
  )
  process.on('SIGHUP', () => supervisor.restart())
  if (isStartedByNpm) followNpm(() => process.kill(process.pid, 'SIGTERM'))
  supervisor.start()
}
