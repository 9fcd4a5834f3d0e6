import { parseArgs } from 'node:util'
import { isKeyId, isKeyName, isScope, KEY_NAME_RULE, SCOPES, type Scope } from '@counterstep/access'
import { toVariable } from '@counterstep/configuration'

const EXPIRY_DAYS_MAX = 3_650
const FILE_VARIABLE = toVariable('keysFile')

export type KeysCommand =
  | {
      readonly verb: 'create'
      readonly path: string
      readonly name: string
      readonly scopes: readonly Scope[]
      readonly expiresInDays: number | null
    }
  | { readonly verb: 'revoke'; readonly path: string; readonly id: string }
  | { readonly verb: 'list'; readonly path: string }
  | { readonly verb: 'help' }

type Environment = Readonly<Record<string, string | undefined>>

export type ReadKeys = { readonly command: KeysCommand } | { readonly problems: readonly string[] }

const OPTIONS = {
  'keys-file': { type: 'string' },
  name: { type: 'string' },
  scopes: { type: 'string' },
  'expires-in-days': { type: 'string' },
  help: { type: 'boolean' },
} as const

const VERBS = ['create', 'list', 'revoke'] as const
type Verb = (typeof VERBS)[number]
const OPTIONS_BY_VERB: Readonly<Record<Verb, readonly string[]>> = {
  create: ['keys-file', 'name', 'scopes', 'expires-in-days'],
  list: ['keys-file'],
  revoke: ['keys-file'],
}

/** Reads the arguments after `counterstep keys`. Problems never quote an argument, since a misplaced word may be a key. */
export function readKeysCommand(args: readonly string[], environment: Environment): ReadKeys {
  const line = parseArgs({ args: [...args], strict: false, allowPositionals: true, options: OPTIONS })
  if (line.values.help === true) return { command: { verb: 'help' } }
  const [word, ...rest] = line.positionals
  const verb = VERBS.find((each) => each === word)
  if (verb === undefined)
    return { problems: ['Say what to do with the keys: create, list or revoke; see keys --help.'] }
  const problems = Object.keys(line.values)
    .filter((name) => !OPTIONS_BY_VERB[verb].includes(name))
    .map((name) =>
      name in OPTIONS
        ? `--${name} is no option of keys ${verb}.`
        : 'There is an unknown option; see keys --help.',
    )
  const path = toText(line.values['keys-file']) || environment[FILE_VARIABLE]
  if (path === undefined || path === '')
    problems.push(`--keys-file or ${FILE_VARIABLE} must name the file of keys.`)
  if (rest.length !== (verb === 'revoke' ? 1 : 0)) {
    problems.push(
      verb === 'revoke' ? 'keys revoke takes one ID; see keys list.' : `keys ${verb} takes options only.`,
    )
  }
  const given = { ...line.values, id: rest[0] }
  const command = buildCommand(verb, path ?? '', given, problems)
  return command === undefined || problems.length > 0 ? { problems } : { command }
}

type Given = Readonly<Record<string, string | boolean | undefined | (string | boolean)[]>>

function buildCommand(verb: Verb, path: string, given: Given, problems: string[]): KeysCommand | undefined {
  switch (verb) {
    case 'list':
      return { verb, path }
    case 'revoke': {
      const { id } = given
      if (isKeyId(id)) return { verb, path, id }
      problems.push('The ID must be the part of the key between cs_ and the next underscore; see keys list.')
      return undefined
    }
    case 'create': {
      const { name } = given
      const scopes = readScopes(toText(given.scopes))
      const days = readDays(given['expires-in-days'])
      if (!isKeyName(name)) problems.push(`--name ${KEY_NAME_RULE}.`)
      if (scopes === undefined) problems.push(`--scopes must be some of ${SCOPES.join(',')}.`)
      if (days === undefined)
        problems.push(`--expires-in-days must be a whole number from 1 to ${EXPIRY_DAYS_MAX}.`)
      if (!isKeyName(name) || scopes === undefined || days === undefined) return undefined
      return { verb, path, name, scopes, expiresInDays: days }
    }
  }
}

function readScopes(text: string): readonly Scope[] | undefined {
  const scopes = [...new Set(text.split(','))]
  return scopes.every(isScope) ? scopes : undefined
}

/** Returns null for a key that does not expire, and undefined for a text that is no number of days. */
function readDays(given: Given[string]): number | null | undefined {
  if (given === undefined) return null
  const text = toText(given)
  const days = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return days >= 1 && days <= EXPIRY_DAYS_MAX ? days : undefined
}

function toText(given: Given[string]): string {
  return typeof given === 'string' ? given : ''
}
