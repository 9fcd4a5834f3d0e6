import { statSync } from 'node:fs'
import type { Parsed } from '@counterstep/branch-http/targets'
import { findJsonFault } from './json-fault.ts'
import { readNamedFile } from './named-file.ts'
import type { Settings } from './setting.ts'

/** Others must not write the file, because it says where calls go and which callers need a key. */
const MODE_DENIED = 0o002
/** A longer file is refused, because it cannot be a file of settings. */
const CONFIG_CHARACTERS_MAX = 256 * 1024

export interface ConfigFile {
  readonly path: string
  /** Maps the name of each setting to its value, written as its flag takes it. */
  readonly values: ReadonlyMap<string, string>
  /** Each is a sentence that names the file and its setting, and quotes no value. */
  readonly problems: readonly string[]
}

/**
 * Reads a file of settings: one JSON object with a setting's name (`retryInitialMs`) beside its value. A value is a
 * text, a number, true or false, a list of texts, or an object whose members become `name=value`. `source` is what
 * named the file.
 */
export function readConfigFile(path: string, source: string, settings: Settings): ConfigFile {
  const file = readNamedFile(path)
  // The problem does not repeat the path, because a path that cannot be read may be a misplaced password.
  if ('problem' in file) return { path, values: new Map(), problems: [`${source} ${file.problem}.`] }
  if (process.platform !== 'win32' && (statSync(path).mode & MODE_DENIED) !== 0) {
    const problem = `${source} names a file that every user may change, and with it where calls go: chmod o-w it.`
    return { path, values: new Map(), problems: [problem] }
  }
  return readConfigText(file.value, path, settings)
}

/** Exported for its tests. */
export function readConfigText(text: string, path: string, settings: Settings): ConfigFile {
  const values = new Map<string, string>()
  const problems: string[] = []
  const parsed = parseObject(text)
  if ('problem' in parsed) problems.push(`${path} ${parsed.problem}.`)
  for (const [name, value] of 'problem' in parsed ? [] : Object.entries(parsed.value)) {
    const written = writeAsFlag(value)
    if (!Object.hasOwn(settings, name)) {
      const nearest = findNearest(name, Object.keys(settings))
      const advice = nearest === undefined ? '' : `; did you mean "${nearest}"?`
      problems.push(`${JSON.stringify(name)} in ${path} is no setting${advice || '.'}`)
    } else if (written === undefined)
      problems.push(`"${name}" in ${path} has a value of no kind that a setting has.`)
    else values.set(name, written)
  }
  return { path, values, problems }
}

function parseObject(text: string): Parsed<object> {
  if (text.length > CONFIG_CHARACTERS_MAX)
    return { problem: `is longer than a file of settings may be (${CONFIG_CHARACTERS_MAX} characters)` }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value }
    return { problem: 'must be a JSON object, { "port": 8470 }' }
  } catch (error: unknown) {
    if (!(error instanceof SyntaxError)) throw error
    return { problem: `is no JSON: the fault is at ${findJsonFault(text)}` }
  }
}

function writeAsFlag(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value)
  if (typeof value !== 'object' || value === null) return undefined
  const entries = Object.entries(value)
  if (!entries.every(([, each]) => typeof each === 'string' && !each.includes(','))) return undefined
  return entries.map(([name, each]) => (Array.isArray(value) ? each : `${name}=${each}`)).join(',')
}

/** Returns the name that the fewest letters tell from a text; undefined where two, or a third of the text, are not enough. */
function findNearest(text: string, names: readonly string[]): string | undefined {
  const [wanted, lettersMax] = [toLetters(text), Math.max(2, text.length / 3)]
  // A long text is not a misspelt name, and each comparison costs its length times the length of the name.
  if (wanted.length > 64) return undefined
  const [nearest] = names
    .map((name) => ({ name, letters: countDifferentLetters(wanted, toLetters(name)) }))
    .filter(({ letters }) => letters <= lettersMax)
    .sort((one, other) => one.letters - other.letters)
  return nearest?.name
}

/** Brings a name, a flag and a variable of one setting to the same spelling. */
function toLetters(text: string): string {
  return text.toLowerCase().replace(/^counterstep_|[-_]/g, '')
}

/** Counts the letters that have to be added, left out or replaced to turn one text into the other (Levenshtein's distance). */
function countDifferentLetters(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1]
    for (let to = 0; to < other.length; to++) {
      const kept = (row[to] ?? 0) + (letter === other[to] ? 0 : 1)
      next.push(Math.min(kept, (row[to + 1] ?? 0) + 1, (next[to] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
