import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { FuzzedServer } from './fuzzed-server.ts'

/** Pinned, so that what it finds today it finds tomorrow. */
const VERSION = '4.32.5'
const PHASES = 'examples,coverage,fuzzing,stateful'
/**
 * Nothing needs a key. A schema cannot say what excludes what, what a URL is or which cursor was given out. And fastify
 * answers 400 instead of 405 to a QUERY without a content type; the other methods are tested with the routes.
 */
const CHECKS_LEFT_OUT = 'ignored_auth,positive_data_acceptance,unsupported_method'
/** The document's own example waits for 10 s, and schemathesis would send it with every other change. */
const NO_WAIT = 'Prefer: wait=0'

/** Runs schemathesis against a private server: `node testing/chaos/src/fuzz/schemathesis.ts [--examples N] [--seed S]`. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      examples: { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
      python: { type: 'string', default: 'python3' },
    },
  })
  const program = await install(values.python)
  const server = await FuzzedServer.start()
  const args = [
    ...['run', `${server.url}/openapi.json`, '--url', server.url, '--phases', PHASES, '--mode', 'all'],
    ...['--checks', 'all', '--exclude-checks', CHECKS_LEFT_OUT, '--continue-on-failure', '--no-color'],
    ...[
      '--max-examples',
      values.examples,
      '--seed',
      values.seed,
      '--request-timeout',
      '10',
      '--header',
      NO_WAIT,
    ],
  ]
  const run = spawn(program, args, { stdio: 'inherit' })
  const [code] = (await once(run, 'close')) as [number | null]
  const { isRunning, complaints } = server
  const stopCode = await server.stop()
  const isSound = isRunning && complaints.length === 0 && stopCode === 0
  for (const line of complaints) process.stderr.write(`${line}\n`)
  process.stdout.write(
    `schemathesis: ${code === 0 ? 'no finding' : 'see above'}; server: ${isSound ? 'sound' : 'not sound'}\n`,
  )
  process.exitCode = code === 0 && isSound ? 0 : 1
}

/** In an environment of its own in the user's cache: it is no dependency of this repository. */
async function install(python: string): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const folder = join(cache, 'counterstep', `schemathesis-${VERSION}`)
  const program = join(folder, 'bin', 'schemathesis')
  if (existsSync(program)) return program
  const run = promisify(execFile)
  await run(python, ['-m', 'venv', folder])
  await run(join(folder, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`])
  return program
}

await main()
