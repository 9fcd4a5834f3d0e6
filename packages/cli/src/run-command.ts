import type { Logger } from '@counterstep/engine'
import { VERSION } from '@counterstep/protocol'
import { createLogger } from '@counterstep/server'
import { type MigrateConfig, readCommand, type ServeConfig } from './config.ts'
import { followNpm } from './follow-npm.ts'
import { helpText } from './help-text.ts'
import type { KeysCommand } from './keys-command.ts'
import { migrate } from './migrate.ts'
import { runKeys } from './run-keys.ts'
import { type Serving, serve } from './serve.ts'
import { signingKeyCommand } from './signing-key-command.ts'
import { describeFailure } from './start-failure.ts'
import { onStopSignals } from './stop-signals.ts'
import { boundYoungGeneration } from './young-generation.ts'

/** A stop that takes longer than this is cut, since a supervisor will kill the process at 10 s. */
const STOP_MS_MAX = 9_500

export function runCommand(args: readonly string[]): void {
  if (args[0] === 'signing-key') {
    const { exitCode, stdout, stderr } = signingKeyCommand(args.slice(1))
    for (const line of stdout) process.stdout.write(`${line}\n`)
    for (const line of stderr) process.stderr.write(`${line}\n`)
    process.exitCode = exitCode
    return
  }
  const command = readCommand(args)
  switch (command.type) {
    case 'help':
      process.stdout.write(helpText(command.of))
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
    case 'migrate':
      void runMigrate(command.config)
      return
    case 'serve':
      // The command need not be named.
      boundYoungGeneration(process)
      void run(command.config)
  }
}

async function run(config: ServeConfig): Promise<void> {
  const logger = createLogger({ level: config.logLevel })
  const die = (error: unknown, message: string): void => {
    logger.error(error === undefined ? {} : { err: error }, message)
    process.exit(1)
  }
  // A reader of our output that has gone is no reason to end: the work goes on, and only lines are lost.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  // Neither may go on: what they left half done is unknown, and a restart knows what to do.
  process.on('uncaughtException', (error) => die(error, 'uncaught exception'))
  process.on('unhandledRejection', (error) => die(error, 'unhandled rejection'))
  // A driver that forgets its promise would else end this as if all were well.
  process.on('beforeExit', () => die(undefined, 'there is nothing left to wait for'))
  const stopping = new AbortController()
  const starting = serve({
    config,
    logger,
    version: VERSION,
    signal: stopping.signal,
    onBroken: (error) => die(error, 'the store cannot go on'),
  })
  onStopSignals(
    process,
    (signal) => {
      stopping.abort()
      void stop(signal, starting, logger)
    },
    (code) => process.exit(code),
  )
  // Without npm its starter may go, as of a service or a background job.
  if (config.isStartedByNpm) followNpm(() => process.kill(process.pid, 'SIGTERM'))
  try {
    const { url, dtmUrl } = await starting
    if (config.readyJson) process.stdout.write(`${JSON.stringify({ url, dtmUrl })}\n`)
  } catch (error) {
    if (isAbort(error)) return
    const { code, sentence } = startFailure(error, config)
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
    // The work that is under way at the server is not waited for: its connection ends with this process.
    process.exit(1)
  }
}

async function stop(signal: string, starting: Promise<Serving>, logger: Logger): Promise<void> {
  logger.info({ signal }, 'stopping')
  setTimeout(() => {
    logger.error({ limitMs: STOP_MS_MAX }, 'the stop took too long and was cut')
    // exit() would join the store's thread, which may hang in the disk.
    process.kill(process.pid, 'SIGKILL')
  }, STOP_MS_MAX).unref()
  try {
    await (await starting).stop()
  } catch (error) {
    if (!isAbort(error)) {
      logger.error({ err: error }, 'the stop was not clean')
      process.exit(1)
    }
  }
  logger.info({}, 'stopped')
  process.exit(0)
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

function startFailure(error: unknown, { host, port, dtmPort }: ServeConfig) {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  if (!isTaken) return describeFailure(error)
  const isDtm = 'port' in error && error.port === dtmPort && dtmPort !== port
  const advice = isDtm ? '--dtm-port, or switch DTM off by --dtm-port off' : '--port'
  const taken = isDtm ? dtmPort : port
  return { code: 'EADDRINUSE', sentence: `port ${taken} of ${host} is taken; choose another with ${advice}` }
}
