import { type Logger, nodeClock } from '@counterstep/engine'
import { VERSION } from '@counterstep/protocol'
import { Breaks, createLogger } from '@counterstep/server'
import { ALERTS_USAGE, type AlertsCommand } from './alerts-command.ts'
import { type DtmCheckLine, type MigrateConfig, readCommand, type ServeConfig } from './config.ts'
import { followNpm } from './follow-npm.ts'
import { giveSignal } from './give-signal.ts'
import { writeHelp } from './help-text.ts'
import type { KeysCommand } from './keys-command.ts'
import { migrate } from './migrate.ts'
import type { OperatorLine } from './operator/line/operator-line.ts'
import { writeOperatorUsage } from './operator/line/write-usage.ts'
import type { SupervisorLink } from './processes/supervisor-link.ts'
import { runKeys } from './run-keys.ts'
import { type Serving, serve } from './serve.ts'
import { SIGNAL_USAGE, type SignalCommand } from './signal-command.ts'
import { runSigningKeyCommand } from './signing-key-command.ts'
import { describeFailure } from './start-failure.ts'
import { onStopSignals } from './stop-signals.ts'
import { makeTemporaryStore } from './temporary-store.ts'
import { boundYoungGeneration } from './young-generation.ts'

/** A stop that takes longer is cut short, since a supervisor kills the process after 10 s. */
const STOP_MS_MAX = 9_500

export function runCommand(args: readonly string[]): void {
  if (args[0] === 'signing-key') {
    const { exitCode, stdout, stderr } = runSigningKeyCommand(args.slice(1))
    for (const line of stdout) process.stdout.write(`${line}\n`)
    for (const line of stderr) process.stderr.write(`${line}\n`)
    process.exitCode = exitCode
    return
  }
  const command = readCommand(args)
  switch (command.type) {
    case 'help':
      process.stdout.write(writeHelp(command.command))
      return
    case 'version':
      process.stdout.write(`${VERSION}\n`)
      return
    case 'refused':
      process.stderr.write(command.problems.map((problem) => `counterstep: ${problem}\n`).join(''))
      process.exitCode = 1
      return
    case 'keys':
      void runKeysCommand(command.command)
      return
    case 'signal':
      if (command.command === 'help') process.stdout.write(`${SIGNAL_USAGE.join('\n')}\n`)
      else void runSignalCommand(command.command)
      return
    case 'alerts':
      if (command.command === 'help') process.stdout.write(`${ALERTS_USAGE}\n`)
      else void runAlertsCommand(command.command)
      return
    case 'dtm-check':
      void runDtmCheckCommand(command)
      return
    case 'operator-help':
      process.stdout.write(writeOperatorUsage(command.words))
      return
    case 'operator':
      void runOperatorCommand(command.line)
      return
    case 'migrate':
      void runMigrate(command.config)
      return
    case 'dev':
      runDev(command.config, command.keepsData)
      return
    case 'serve':
      // The first word may be missing or an option, so `main.ts` has not seen that this is `serve`.
      boundYoungGeneration(process)
      if (command.config.processes === 1) void runServer(command.config)
      else void runOneOfSeveral(command.config)
  }
}

interface ServerRun {
  readonly breaks?: Breaks
  /** Present in one of several processes. */
  readonly link?: SupervisorLink
  onReady?(serving: Serving): void
  /** It is called when the server has stopped, and before the process ends. */
  onStopped?(): void
}

/** The same program is the supervisor and each of its workers, which Node's cluster tells apart. */
async function runOneOfSeveral(config: ServeConfig): Promise<void> {
  const { default: cluster } = await import('node:cluster')
  if (cluster.isPrimary) {
    const { runSupervisor } = await import('./processes/run-supervisor.ts')
    runSupervisor(config)
    return
  }
  const { SupervisorLink } = await import('./processes/supervisor-link.ts')
  void runServer(config, { link: new SupervisorLink(process) })
}

/** Runs the server for one developer. What it kept goes with it, unless its place was named. */
function runDev(given: ServeConfig, keepsData: boolean): void {
  const { config, remove } = keepsData
    ? { config: given, remove: () => undefined }
    : makeTemporaryStore(given)
  const kept = keepsData ? `data in ${config.store.place}` : 'nothing is kept'
  void runServer(config, {
    breaks: new Breaks(nodeClock()),
    onReady: ({ consoleUrl }) =>
      process.stdout.write(`Counterstep for development: ${consoleUrl} (${kept}; Ctrl-C stops it)\n`),
    onStopped: remove,
  })
}

async function runServer(config: ServeConfig, run: ServerRun = {}): Promise<void> {
  const logger = createLogger({ level: config.logLevel })
  const die = (error: unknown, message: string): void => {
    logger.error(error === undefined ? {} : { err: error }, message)
    process.exit(1)
  }
  // If the reader of our output has gone, only log lines are lost, so the process goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  // After either of these the state of this process is unknown, so it ends; a restart recovers from the store.
  process.on('uncaughtException', (error) => die(error, 'uncaught exception'))
  process.on('unhandledRejection', (error) => die(error, 'unhandled rejection'))
  // If a driver never settles its promise, Node would end here with the exit code of success.
  process.on('beforeExit', () => die(undefined, 'there is nothing left to wait for'))
  const stopping = new AbortController()
  const starting = serve({
    config,
    logger,
    version: VERSION,
    signal: stopping.signal,
    onBroken: (error) => die(error, 'the store cannot go on'),
    ...(run.breaks && { breaks: run.breaks }),
    ...(run.link && { metrics: run.link }),
  })
  const stopOnce = onStopSignals(
    process,
    (signal) => {
      stopping.abort()
      void stop(signal, starting, logger, run)
    },
    (code) => process.exit(code),
  )
  // A terminal that hangs up tells all processes of its group, and a restart is the supervisor's to make.
  if (run.link !== undefined) process.on('SIGHUP', () => undefined)
  run.link?.listen({
    onStop: stopOnce,
    onRetire: async () => {
      await (await starting).retire()
      stopOnce('retire')
    },
  })
  // A parent that is not npm may end while the server goes on, as for a service or a background job.
  if (config.isStartedByNpm) followNpm(() => process.kill(process.pid, 'SIGTERM'))
  try {
    const serving = await starting
    const { url, dtmUrl, dtmGrpcUrl, consoleUrl } = serving
    if (run.link !== undefined) run.link.tellReady(serving)
    else if (config.readyJson)
      process.stdout.write(`${JSON.stringify({ url, dtmUrl, dtmGrpcUrl, consoleUrl })}\n`)
    run.onReady?.(serving)
  } catch (error) {
    if (isAbort(error)) return
    const { code, sentence } = describeStartFailure(error, config)
    logger.error(code === undefined ? { err: error } : { code }, `cannot start: ${sentence}`)
    process.exit(1)
  }
}

async function runKeysCommand(command: KeysCommand): Promise<void> {
  try {
    const { stdout, stderr } = await runKeys(command, Date.now())
    process.stderr.write(stderr)
    process.stdout.write(stdout)
  } catch (error) {
    process.stderr.write(`counterstep: ${describeFailure(error).sentence}\n`)
    process.exitCode = 1
  }
}

async function runSignalCommand(command: SignalCommand): Promise<void> {
  const { stdout, stderr } = await giveSignal(command)
  process.stderr.write(stderr)
  process.stdout.write(stdout)
  process.exitCode = stdout === '' ? 1 : 0
}

async function runAlertsCommand(command: AlertsCommand): Promise<void> {
  // No server needs it.
  const { sendTestAlert } = await import('./send-test-alert.ts')
  const { stdout, stderr } = await sendTestAlert(command)
  process.stderr.write(stderr)
  process.stdout.write(stdout)
  process.exitCode = stdout === '' ? 1 : 0
}

async function runDtmCheckCommand({ args, environment }: DtmCheckLine): Promise<void> {
  // No server needs it.
  const { runDtmCheck } = await import('./dtm-check-command.ts')
  process.exitCode = await runDtmCheck(args, environment, {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    isTerminal: process.stderr.isTTY,
  })
}

async function runOperatorCommand(line: OperatorLine): Promise<void> {
  // No server needs it.
  const { startOperator } = await import('./operator/run/start-operator.ts')
  await startOperator(line)
}

async function runMigrate(config: MigrateConfig): Promise<void> {
  process.exitCode = 1
  const stopping = new AbortController()
  onStopSignals(
    process,
    () => stopping.abort(),
    (code) => process.exit(code),
  )
  const say = (line: string) => process.stderr.write(`counterstep: ${line}\n`)
  try {
    process.stdout.write(`${await migrate({ config, signal: stopping.signal, onProgress: say })}\n`)
    process.exitCode = 0
  } catch (error) {
    say(isAbort(error) ? 'stopped; migrate may be run again' : describeFailure(error).sentence)
    // A statement that still runs at the database is not waited for; its connection ends with this process.
    process.exit(1)
  }
}

async function stop(
  signal: string,
  starting: Promise<Serving>,
  logger: Logger,
  { onStopped, link }: ServerRun,
): Promise<void> {
  logger.info({ signal }, 'stopping')
  setTimeout(() => {
    logger.error({ limitMs: STOP_MS_MAX }, 'the stop took too long and was cut')
    // exit() would wait for the store's thread, which may hang while it writes to the disk.
    process.kill(process.pid, 'SIGKILL')
  }, STOP_MS_MAX).unref()
  try {
    const serving = await starting
    await serving.stop()
    await link?.tellLast()
  } catch (error) {
    if (!isAbort(error)) {
      logger.error({ err: error }, 'the stop was not clean')
      process.exit(1)
    }
  }
  onStopped?.()
  logger.info({}, 'stopped')
  process.exit(0)
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

function describeStartFailure(error: unknown, { host, port, dtmPort, dtmGrpc }: ServeConfig) {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  if (!isTaken) return describeFailure(error)
  const taken = 'port' in error ? error.port : port
  const advice =
    taken === port
      ? '--port'
      : taken === dtmGrpc?.port
        ? '--dtm-grpc-port'
        : '--dtm-port, or switch DTM off by --dtm-port off'
  return {
    code: 'EADDRINUSE',
    sentence: `port ${String(taken)} of ${host} is taken; choose another with ${advice}`,
  }
}
