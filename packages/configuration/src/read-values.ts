import type { Setting } from './setting.ts'

export type Settings = Readonly<Record<string, Setting<unknown>>>

/** What settings parse to, under the same names. */
export type ValuesOf<Group extends Settings> = {
  readonly [Name in keyof Group]: Extract<
    ReturnType<Group[Name]['parse']>,
    { readonly value: unknown }
  >['value']
}

export type Environment = Readonly<Record<string, string | undefined>>

/** From where a user's settings come. */
export interface Given {
  /** By flag, without its dashes. A flag wins over its variable. */
  readonly flags: ReadonlyMap<string, string>
  /** A variable wins over the file. */
  readonly environment: Environment
  /** The file's values by the names of their settings. */
  readonly file?: ReadonlyMap<string, string>
}

/** From where each setting came that the user has set: a flag with its dashes, a variable, or its name in the file. */
export type Sources<Name extends string = string> = ReadonlyMap<Name, string>

export interface ReadValues<Group extends Settings> {
  /** Without those that a problem is about. */
  readonly known: Partial<ValuesOf<Group>>
  readonly sources: Sources<Extract<keyof Group, string>>
  /** Each names its flag or variable. */
  readonly problems: readonly string[]
}

export function readValues<Group extends Settings>(
  settings: Group,
  names: readonly Extract<keyof Group, string>[],
  { flags, environment, file }: Given,
): ReadValues<Group> {
  const known: { [Name in keyof Group]?: unknown } = {}
  const sources = new Map<Extract<keyof Group, string>, string>()
  const problems: string[] = []
  for (const name of names) {
    const { flag, variable, fallback, parse } = settings[name] as Setting<unknown>
    const fromLine = flags.get(flag)
    // An empty variable is what Compose makes of an unset one.
    const fromEnvironment = environment[variable] || undefined
    const fromFile = file?.get(name)
    const given = fromLine ?? fromEnvironment ?? fromFile
    const isFromFile = fromEnvironment === undefined && fromFile !== undefined
    const elsewhere = isFromFile ? `"${name}" in the file of --config` : variable
    const source = fromLine === undefined ? elsewhere : `--${flag}`
    const parsed = parse(given ?? fallback)
    if ('problem' in parsed) problems.push(`${source} ${parsed.problem}.`)
    else known[name] = parsed.value
    if (given !== undefined) sources.set(name, source)
  }
  return { known: known as Partial<ValuesOf<Group>>, sources, problems }
}

export function hasAll<Values extends object, Name extends keyof Values>(
  values: Partial<Values>,
  names: readonly Name[],
): values is Partial<Values> & Pick<Values, Name> {
  return names.every((name) => name in values)
}

/** Variables of ours that mean nothing. No reason to refuse: Kubernetes adds some for a service called counterstep. */
export function unknownVariables(environment: Environment, known: ReadonlySet<string>): readonly string[] {
  return Object.entries(environment)
    .filter(([name, text = '']) => name.startsWith('COUNTERSTEP_') && text !== '' && !known.has(name))
    .map(([name]) => name)
}
