import { findJsonFault } from './json-fault.ts'
import { readNamedFile } from './named-file.ts'
import { findNearest } from './nearest-name.ts'
import type { Parsed } from './schemas.ts'
import type { Settings } from './setting.ts'

/** A longer file is no file of settings. */
const CONFIG_CHARACTERS_MAX = 256 * 1024

export interface ConfigFile {
  readonly path: string
  /** The values by the names of their settings, in the words that the flags take. */
  readonly values: ReadonlyMap<string, string>
  /** Each is a sentence that names the file and its setting, and quotes no value. */
  readonly problems: readonly string[]
}

/**
 * Reads a file of settings: one JSON object with a setting's name (`retryInitialMs`) beside its value. A value is a text, a number,
 * true or false, a list of texts, or an object whose members become `name=value`. `source` is what named the file.
 */
export function readConfigFile(path: string, source: string, settings: Settings): ConfigFile {
  const file = readNamedFile(path)
  // The path is not repeated: what cannot be read may be no path, but a misplaced password.
  if ('problem' in file) return { path, values: new Map(), problems: [`${source} ${file.problem}.`] }
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
