#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { createLogger, type Logger } from '@counterstep/server'
import { readCommand, type ServeConfig } from './config.ts'
import { helpText } from './help-text.ts'
import { type Serving, serve } from './serve.ts'
import { onStopSignals } from './stop-signals.ts'

/** A stop that takes longer than this is cut: whoever runs us will kill us at 10 s. */
const STOP_MS_MAX = 9_500

function main(): void {
  const command = readCommand(process.argv.slice(2))
  switch (command.type) {
    case 'help':
      process.stdout.write(helpText())
      return
    case 'version':
      process.stdout.write(`${version()}\n`)
      return
    case 'refused':
      process.stderr.write(command.problems.map((problem) => `counterstep: ${problem}\n`).join(''))
      process.exitCode = 1
      return
    case 'serve':
      void run(command.config)
  }
}

async function run(config: ServeConfig): Promise<void> {
  const logger = createLogger({ level: config.logLevel })
  const die = (error: unknown, message: string): void => {
    logger.error({ err: error }, message)
    process.exit(1)
  }
  // Neither may go on: what they left half done is unknown, and a restart knows what to do.
  process.on('uncaughtException', (error) => die(error, 'uncaught exception'))
  process.on('unhandledRejection', (error) => die(error, 'unhandled rejection'))
  const starting = serve({
    config,
    logger,
    version: version(),
    onBroken: (error) => die(error, 'the store cannot go on'),
  })
  onStopSignals(
    process,
    (signal) => void stop(signal, starting, logger),
    (code) => process.exit(code),
  )
  try {
    const { url } = await starting
    if (config.readyJson) process.stdout.write(`${JSON.stringify({ url })}\n`)
  } catch (error) {
    die(error, `cannot start: ${reasonOf(error, config)}`)
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
    logger.error({ err: error }, 'the stop was not clean')
    process.exit(1)
  }
  logger.info({}, 'stopped')
  process.exit(0)
}

function reasonOf(error: unknown, { host, port }: ServeConfig): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return `port ${port} of ${host} is taken; choose another with --port`
  return error.message
}

function version(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const manifest: { readonly version: string } = JSON.parse(text)
  return manifest.version
}

main()
