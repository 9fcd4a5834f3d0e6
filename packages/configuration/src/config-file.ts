import { readNamedFile } from './named-file.ts'
import type { Settings } from './read-values.ts'

/** A longer file is no file of settings. */
const CONFIG_CHARACTERS_MAX = 256 * 1024

export interface ConfigFile {
  /** The values by the names of their settings, in the words that the flags take. */
  readonly values: ReadonlyMap<string, string>
  /** Each is a sentence that names the file's setting, and quotes no value. */
  readonly problems: readonly string[]
}

/**
 * Reads a file of settings: one JSON object with a setting's name (`retryInitialMs`) beside its value. A value is a text, a number,
 * true or false, a list of texts, or an object whose members become `name=value`.
 */
export function readConfigFile(path: string, settings: Settings): ConfigFile {
  const file = readNamedFile(path)
  if ('problem' in file) return { values: new Map(), problems: [`--config ${file.problem}.`] }
  return readConfigText(file.value, settings)
}

/** Exported for its tests. */
export function readConfigText(text: string, settings: Settings): ConfigFile {
  const values = new Map<string, string>()
  const object = text.length > CONFIG_CHARACTERS_MAX ? undefined : parseObject(text)
  if (object === undefined) return { values, problems: ['--config names a file that is no JSON object.'] }
  const problems: string[] = []
  for (const [name, value] of Object.entries(object)) {
    const written = writeAsFlag(value)
    if (!Object.hasOwn(settings, name))
      problems.push(`${JSON.stringify(name)} in the file of --config is no setting.`)
    else if (written === undefined)
      problems.push(`"${name}" in the file of --config has a value of no kind that a setting has.`)
    else values.set(name, written)
  }
  return { values, problems }
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch (error: unknown) {
    if (error instanceof SyntaxError) return undefined
    throw error
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
