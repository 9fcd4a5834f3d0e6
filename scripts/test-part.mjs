import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { COUNTS_FILE } from './count-reporter.mjs'

const NOT_DONE = 'not done'

/** A tool that counts as one: it passed when it exits with 0. */
export function command(name, limitMs, argv, context) {
  return {
    name,
    async run(held) {
      const fault = await runTool(argv, context, limitMs, held)
      return fault === undefined
        ? { passed: 1, failed: [], skipped: [] }
        : { passed: 0, failed: [`${name}: ${fault}`], skipped: [] }
    },
  }
}

/** A run of vitest, which counts its own tests. */
export function suite(name, limitMs, argv, context) {
  return withTemporaryFolder(name, async (folder, held) => {
    const counts = join(folder, 'counts.json')
    const reporters = ['--reporter=default', `--reporter=${join(context.root, 'scripts/count-reporter.mjs')}`]
    const env = { ...context.env, [COUNTS_FILE]: counts }
    const fault = await runTool([...argv, ...reporters], { ...context, env }, limitMs, held)
    const result = readCounts(counts)
    if (result === undefined) {
      return { passed: 0, failed: [`${name}: no count (${fault ?? 'exit code 0'})`], skipped: [] }
    }
    // vitest itself may fail where no test did, e.g. when it found none, or was not done in time.
    if (fault !== undefined && (result.failed.length === 0 || fault.startsWith(NOT_DONE)))
      result.failed.push(`${name}: ${fault}`)
    return result
  })
}

/** A tool that tells its counts on its last line, and before it the names of what failed and what was skipped. */
export function told(name, limitMs, argv, context) {
  return {
    name,
    async run(held) {
      const lines = []
      const fault = await runTool(argv, context, limitMs, held, (line) => lines.push(line))
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
  const failed = readNames(lines, 'not ok ', failures).map((text) => `${name}: ${text}`)
  if (fault !== undefined && failed.length === 0) failed.push(`${name}: ${fault}`)
  const skipped = readNames(lines, 'skipped ', skips).map((text) => {
    const [what, reason] = text.split(/: (.*)/s)
    return { name: `${name}: ${what}`, reason }
  })
  return { passed, failed, skipped }
}

/**
 * Returns as many names as were counted: a name that is missing is a fault of the tool's report, and is counted all the
 * same.
 */
function readNames(lines, start, count) {
  const names = lines.filter((line) => line.startsWith(start)).map((line) => line.slice(start.length))
  return Array.from({ length: Math.max(count, names.length) }, (_, i) => names[i] ?? 'without a name')
}

export function withTemporaryFolder(name, run) {
  return {
    name,
    async run(held) {
      const folder = mkdtempSync(join(tmpdir(), 'counterstep-test-'))
      try {
        return await run(folder, held)
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

/**
 * Returns undefined when it went well, else the fault. Its output is shown as it comes, or given to `held`; `onLine`
 * gets it, too.
 */
function runTool([file, ...args], { root, env: given }, limitMs, held, onLine) {
  // It would take a pipe for something that shows no colours.
  const env = held !== undefined && process.stdout.isTTY ? { ...given, FORCE_COLOR: '1' } : given
  const isRead = held !== undefined || onLine !== undefined
  const stdio = ['ignore', isRead ? 'pipe' : 'inherit', held === undefined ? 'inherit' : 'pipe']
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd: root, env, stdio })
    child.stdout?.pipe(held ?? process.stdout, { end: false })
    child.stderr?.pipe(held, { end: false })
    if (onLine !== undefined) createInterface({ input: child.stdout }).on('line', onLine)
    const end = (fault) => {
      clearTimeout(limit)
      resolve(fault)
    }
    const limit = setTimeout(() => {
      child.kill('SIGKILL')
      // A process that it has started may hold these open.
      child.stdout?.destroy()
      child.stderr?.destroy()
      end(`${NOT_DONE} after ${limitMs / 1000} s`)
    }, limitMs)
    child.on('error', (error) => end(error.message))
    // Not `exit`: its last lines may come after it.
    child.on('close', (code, signal) => end(code === 0 ? undefined : `exit code ${code ?? signal}`))
  })
}
