import type { ConfigFile } from './config-file.ts'
import { type Settings, toFlag, toVariable, type ValuesOf } from './setting.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Holds the places from which a user's settings come. */
export interface Given {
  /** Maps a flag without its dashes to its value. A flag wins over its variable. */
  readonly flags?: ReadonlyMap<string, string>
  /** A variable wins over the file. */
  readonly environment: Environment
  readonly file?: ConfigFile | undefined
}

/**
 * Says for each setting that the user has set where it came from: a flag with its dashes, a variable, or its name in
 * the file.
 */
export type Sources<Name extends string = string> = ReadonlyMap<Name, string>

export interface ReadSettings<Group extends Settings> {
  /** It lacks the settings that a problem is about. */
  readonly known: Partial<ValuesOf<Group>>
  readonly sources: Sources<Extract<keyof Group, string>>
  /** Has the text that was given for each setting. It may hold a password. */
  readonly texts: ReadonlyMap<Extract<keyof Group, string>, string>
  /** Each problem names the setting's flag, its variable, or its name in the file. */
  readonly problems: readonly string[]
}

export function readSettings<Group extends Settings>(
  settings: Group,
  names: readonly Extract<keyof Group, string>[],
  { flags, environment, file }: Given,
): ReadSettings<Group> {
  const known: { [Name in keyof Group]?: unknown } = {}
  const sources = new Map<Extract<keyof Group, string>, string>()
  const texts = new Map<Extract<keyof Group, string>, string>()
  const problems: string[] = []
  for (const name of names) {
    const { schema, fallback, refusesEmpty } = settings[name] as Settings[string]
    const [flag, variable] = [toFlag(name), toVariable(name)]
    const places = [
      { source: `--${flag}`, text: flags?.get(flag) },
      // An empty variable counts as unset, because Compose turns an unset variable into an empty one.
      { source: variable, text: refusesEmpty ? environment[variable] : environment[variable] || undefined },
      { source: `"${name}" in ${file?.path}`, text: file?.values.get(name) },
    ]
    const given = places.find(({ text }) => text !== undefined)
    // A flag or a line of the file is written on purpose, and its shell variable may have been unset.
    if (given?.text === '' && (refusesEmpty || given.source !== variable)) {
      problems.push(`${given.source} is empty: give it a value, or leave it out.`)
      continue
    }
    const { success, data, error } = schema.safeParse(given?.text ?? fallback)
    if (success) known[name] = data
    else problems.push(`${given?.source ?? variable} ${error.issues[0]?.message}.`)
    if (given?.text === undefined) continue
    sources.set(name, given.source)
    texts.set(name, given.text)
  }
  return { known: known as Partial<ValuesOf<Group>>, sources, texts, problems }
}

export function hasAll<Values extends object, Name extends keyof Values>(
  values: Partial<Values>,
  names: readonly Name[],
): values is Partial<Values> & Pick<Values, Name> {
  return names.every((name) => name in values)
}

/**
 * Lists variables that are named like ours and mean nothing. They are no reason to refuse, because Kubernetes adds some
 * for a service called counterstep.
 */
export function findUnknownVariables(environment: Environment, known: readonly string[]): readonly string[] {
  return Object.entries(environment)
    .filter(([name, text = '']) => name.startsWith('COUNTERSTEP_') && text !== '' && !known.includes(name))
    .map(([name]) => name)
}
