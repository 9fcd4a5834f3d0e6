import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { COUNTS_FILE } from './count-reporter.mjs'
import { nodeEnvironment } from './pinned-node.mjs'

const PREPARE_LAMBDA = 'packages/lambda-emulator/src/prepare.ts'

/**
 * The parts of `npm test`, in order. `run` answers { passed, failed, skipped }: a number, the names that failed, and
 * the names with reasons that were skipped.
 */
export function testParts(root, node) {
  const tool = (path, ...args) => [node, join(root, 'node_modules', path), ...args]
  const vitest = (project) => tool('vitest/vitest.mjs', 'run', '--project', project)
  const start = [process.execPath, join(root, 'scripts', 'start.mjs'), '--once', '--port', '0']
  const context = { root, env: nodeEnvironment(node) }
  return [
    command('format and lint', 60_000, tool('@biomejs/biome/bin/biome', 'ci', '.'), context),
    command('types', 120_000, tool('typescript/bin/tsc', '-b'), context),
    command('types of tests', 120_000, tool('typescript/bin/tsc', '-p', 'tsconfig.tests.json'), context),
    // The first run on a machine downloads cfn-lint.
    suite('repository rules', 300_000, vitest('repository'), context),
    // Compiles for a minute the first time on a machine, which no test is to feel.
    early('runtime client of Lambda', 600_000, [node, join(root, PREPARE_LAMBDA)], context),
    suite('packages and end to end', 1_500_000, vitest('packages'), context),
    // The first run on a machine may install servers and download one.
    suite('stores on real servers', 1_500_000, vitest('servers'), context),
    // Builds three programs the first time, in Go, Python and Java.
    told('clients of DTM', 1_500_000, [node, join(root, 'conformance', 'src', 'main.ts')], context),
    // The first run on a machine downloads a Debian, and all that the Dockerfile's build installs.
    told('container images', 900_000, [node, join(root, 'infra', 'test', 'main.ts')], context),
    withTemporaryFolder('npm start -- --once', (folder) =>
      command('npm start -- --once', 120_000, [...start, '--data', folder], context).run(),
    ),
  ]
}

/** A tool that counts as one and runs beside all parts before it: `begin` starts it, `run` waits for it. */
function early(name, limitMs, argv, context) {
  let begun
  const { run } = command(name, limitMs, argv, context)
  return {
    name,
    begin() {
      begun = run()
    },
    run: () => begun ?? run(),
  }
}

/** A tool that counts as one: it passed when it exits with 0. */
function command(name, limitMs, argv, context) {
  return {
    name,
    async run() {
      const fault = await runTool(argv, context, limitMs)
      return fault === undefined
        ? { passed: 1, failed: [], skipped: [] }
        : { passed: 0, failed: [`${name}: ${fault}`], skipped: [] }
    },
  }
}

/** A run of vitest, which counts its own tests. */
function suite(name, limitMs, argv, context) {
  return withTemporaryFolder(name, async (folder) => {
    const counts = join(folder, 'counts.json')
    const reporters = ['--reporter=default', `--reporter=${join(context.root, 'scripts/count-reporter.mjs')}`]
    const env = { ...context.env, [COUNTS_FILE]: counts }
    const fault = await runTool([...argv, ...reporters], { ...context, env }, limitMs)
    const result = readCounts(counts)
    if (result === undefined) {
      return { passed: 0, failed: [`${name}: no count (${fault ?? 'exit code 0'})`], skipped: [] }
    }
    // vitest itself may fail where no test did, e.g. when it found none.
    if (fault !== undefined && result.failed.length === 0) result.failed.push(`${name}: ${fault}`)
    return result
  })
}

/** A tool that tells its counts on its last line, and before it the names of what failed and what was skipped. */
function told(name, limitMs, argv, context) {
  return {
    name,
    async run() {
      const lines = []
      const fault = await runTool(argv, context, limitMs, (line) => lines.push(line))
      return countsTold(name, lines, fault)
    },
  }
}

/** Exported for its test. */
export function countsTold(name, lines, fault) {
  const counts = /^(\d+) passed, (\d+) failed(?:, \d+ known)?(?:, (\d+) skipped)?$/.exec(lines.at(-1) ?? '')
  if (counts === null) {
    return { passed: 0, failed: [`${name}: no count (${fault ?? 'exit code 0'})`], skipped: [] }
  }
  const [passed, failures, skips = 0] = counts.slice(1).map((count) => Number(count ?? 0))
  const failed = namesOf(lines, 'not ok ', failures).map((text) => `${name}: ${text}`)
  if (fault !== undefined && failed.length === 0) failed.push(`${name}: ${fault}`)
  const skipped = namesOf(lines, 'skipped ', skips).map((text) => {
    const [what, reason] = text.split(/: (.*)/s)
    return { name: `${name}: ${what}`, reason }
  })
  return { passed, failed, skipped }
}

/** As many as were told of: a name that is missing is a fault of the tool's report, and is counted all the same. */
function namesOf(lines, start, count) {
  const names = lines.filter((line) => line.startsWith(start)).map((line) => line.slice(start.length))
  return Array.from({ length: Math.max(count, names.length) }, (_, i) => names[i] ?? 'without a name')
}

function withTemporaryFolder(name, run) {
  return {
    name,
    async run() {
      const folder = mkdtempSync(join(tmpdir(), 'counterstep-test-'))
      try {
        return await run(folder)
      } finally {
        rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
      }
    },
  }
}

function readCounts(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** Answers undefined when it went well, else what went wrong. Its output is shown as it comes; `onLine` is told it, too. */
function runTool([file, ...args], { root, env }, limitMs, onLine) {
  return new Promise((resolve) => {
    const output = onLine === undefined ? 'inherit' : 'pipe'
    const child = spawn(file, args, { cwd: root, env, stdio: ['ignore', output, 'inherit'] })
    if (child.stdout !== null) {
      child.stdout.pipe(process.stdout, { end: false })
      createInterface({ input: child.stdout }).on('line', onLine)
    }
    let timedOut = false
    const limit = setTimeout(() => {
      timedOut = true
      child.kill('SIGKILL')
    }, limitMs)
    const end = (fault) => {
      clearTimeout(limit)
      resolve(fault)
    }
    child.on('error', (error) => end(error.message))
    // Not `exit`: its last lines may come after it.
    child.on('close', (code, signal) => {
      if (timedOut) end(`not done after ${limitMs / 1000} s`)
      else end(code === 0 ? undefined : `exit code ${code ?? signal}`)
    })
  })
}
