// A vitest reporter that writes what happened as JSON, with the reason of each skip, which vitest's own JSON leaves out.
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'

/** The environment variable that names the file to write. */
export const COUNTS_FILE = 'TEST_COUNTS_FILE'

const REASON_CHARACTERS_MAX = 200

// vitest loads a reporter by its default export.
export default class CountReporter {
  #ended = { passed: 0, failed: [], skipped: [] }

  /** A run that is killed keeps what it had counted. */
  onTestModuleEnd(module) {
    countModule(module, this.#ended)
    write(this.#ended)
  }

  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: [], skipped: [] }
    for (const module of modules) countModule(module, counts)
    for (const error of unhandledErrors) counts.failed.push(`unhandled: ${error.message}`)
    write(counts)
  }
}

function write(counts) {
  const path = process.env[COUNTS_FILE]
  if (path !== undefined) writeFileSync(path, JSON.stringify(counts))
}

/** Returns the first line of what went wrong: the report of a long run is read without what was printed on the way. */
function readReason(error) {
  const [line = ''] = String(error.message ?? '').split(/[\r\n]/)
  return line === '' ? '' : `: ${line.slice(0, REASON_CHARACTERS_MAX)}`
}

function countModule(module, counts) {
  const file = relative(process.cwd(), module.moduleId)
  for (const suite of [module, ...module.children.allSuites()]) {
    // A file that does not load, or a failing hook: no test of its own shows it.
    const [error] = suite.errors()
    if (error !== undefined) counts.failed.push(`${file} ${suite.fullName ?? ''}`.trim() + readReason(error))
  }
  for (const test of module.children.allTests()) {
    const result = test.result()
    const name = `${file} > ${test.fullName}`
    if (result.state === 'passed') counts.passed += 1
    else if (result.state === 'skipped') counts.skipped.push({ name, reason: result.note })
    else counts.failed.push(name + readReason(result.errors?.[0] ?? {}))
  }
}
