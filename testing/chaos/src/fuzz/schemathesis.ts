import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { canary } from '@counterstep/test-servers/canary'
import { FuzzedServer } from './fuzzed-server.ts'
import { compareWithAnswers } from './stored-as-answered.ts'

/** Pinned, so that what it finds today it finds tomorrow. */
const VERSION = '4.32.5'
const PHASES = 'examples,coverage,fuzzing,stateful'
/**
 * Nothing needs a key. A schema cannot say what excludes what, what a URL is or which cursor was given out. And fastify
 * answers 400 instead of 405 to a QUERY without a content type; the other methods are tested with the routes.
 */
const CHECKS_LEFT_OUT = 'ignored_auth,positive_data_acceptance,unsupported_method'
/** A stream of changes has no end, so that each of its requests would last until the time-out. Its tests are in the server. */
const PATH_LEFT_OUT = '/v1/live'
/** The document's own example waits for 10 s, and schemathesis would send it with every other change. */
const NO_WAIT = 'Prefer: wait=0'
/** The server hears it with each request, and may show it nowhere. */
const SECRET = `X-Secret: ${canary('schemathesis-header')}`

/**
 * Runs schemathesis against a private server: `npm run fuzz -- [--examples N] [--seed S]`. The last line counts, as
 * `npm run test:all` reads it.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      examples: { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
      python: { type: 'string', default: 'python3' },
    },
  })
  const reason = await missingPython(values.python)
  if (reason !== undefined) {
    process.stdout.write(`skipped schemathesis: ${reason}\n0 passed, 0 failed, 1 skipped\n`)
    return
  }
  const program = await install(values.python)
  const server = await FuzzedServer.start()
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-schemathesis-'))
  const report = join(folder, 'requests.har')
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
      '--header',
      SECRET,
    ],
    ...['--exclude-path', PATH_LEFT_OUT],
    ...['--report', 'har', '--report-har-path', report],
  ]
  const run = spawn(program, args, { stdio: 'inherit' })
  const [code] = (await once(run, 'close')) as [number | null]
  const { isRunning, complaints } = server
  const { accepted, faults: wrong } = await compareWithAnswers(report, server.url)
  rmSync(folder, { recursive: true })
  const stopCode = await server.stop()
  const isSound = isRunning && complaints.length === 0 && stopCode === 0
  for (const line of complaints) process.stderr.write(`${line}\n`)
  for (const line of wrong) process.stderr.write(`${line}\n`)
  const faults = [
    ...(wrong.length === 0 && accepted > 0
      ? []
      : [`of ${accepted} accepted transactions ${wrong.length} are not stored as answered`]),
    ...(code === 0 ? [] : ['it has findings, see above']),
    ...(isSound ? [] : ['the server complained, ended or did not stop']),
  ]
  for (const fault of faults) process.stdout.write(`not ok schemathesis: ${fault}\n`)
  process.stdout.write(
    `${accepted} transactions were accepted\n${3 - faults.length} passed, ${faults.length} failed\n`,
  )
  process.exitCode = faults.length === 0 ? 0 : 1
}

async function missingPython(python: string): Promise<string | undefined> {
  try {
    await promisify(execFile)(python, ['-c', 'import venv, ensurepip'])
    return undefined
  } catch (error: unknown) {
    return `${python} with venv does not work: ${String(error).split('\n', 1)[0]}`
  }
}

/** Schemathesis gets an environment of its own in the user's cache: it is no dependency of this repository. */
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
