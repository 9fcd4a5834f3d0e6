import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

/** `help`: the usage was asked for. */
export type SignalRequest = SignalCommand | 'help'

export interface SignalCommand {
  readonly url: string
  readonly apiKey?: string
  readonly gid: string
  readonly name: string
  readonly id: string
  /** The payload as JSON. */
  readonly payload?: string
}

type Environment = Readonly<Record<string, string | undefined>>

const URL_VARIABLE = 'COUNTERSTEP_URL'
const KEY_VARIABLE = 'COUNTERSTEP_API_KEY'
/** Clients of a server read these variables, which `serve` must not take for misspelt settings. */
export const CLIENT_VARIABLES = [URL_VARIABLE, KEY_VARIABLE]
const VISIBLE = /^[!-~]+$/
const DEFAULT_URL = 'http://127.0.0.1:8470'

const OPTIONS = {
  url: { type: 'string' },
  id: { type: 'string' },
  payload: { type: 'string' },
  'api-key-file': { type: 'string' },
  help: { type: 'boolean' },
} as const

export const SIGNAL_USAGE = [
  'counterstep signal GID NAME [--payload JSON] [--id ID] [--url URL] [--api-key-file FILE]',
  '',
  'Gives the saga GID the signal NAME that one of its branches waits for. The same ID with the same payload is the',
  'same signal, however often it is sent; by default a new one is made and printed.',
  '',
  `  The server: --url, or ${URL_VARIABLE}; by default ${DEFAULT_URL}.`,
  `  The API key, with the scope signal: ${KEY_VARIABLE}, or the file of --api-key-file. Options show in the list`,
  '  of processes, so no option takes the key itself.',
]

/** Reads the arguments after `counterstep signal`. Problems never quote an argument, since a misplaced word may be a key. */
export function readSignalCommand(
  args: readonly string[],
  environment: Environment,
): { readonly command: SignalRequest } | { readonly problems: readonly string[] } {
  const { positionals, values } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    options: OPTIONS,
  })
  if (values.help === true) return { command: 'help' }
  const [gid = '', name = ''] = positionals
  const isKnown = Object.entries(values).every(([key, value]) => key in OPTIONS && typeof value === 'string')
  if (!isKnown || positionals.length !== 2 || gid === '' || name === '')
    return { problems: ['signal takes a GID and a NAME; see signal --help.'] }
  const url = toText(values.url) || environment[URL_VARIABLE] || DEFAULT_URL
  const payload = toText(values.payload)
  const problems: string[] = []
  if (!isServerUrl(url))
    problems.push(
      `--url or ${URL_VARIABLE} must be an http or https URL without a user, a query and a fragment.`,
    )
  if (payload !== undefined && !isJson(payload))
    problems.push('--payload must be JSON, such as \'{"by":"kim"}\'.')
  const apiKey = readApiKey(toText(values['api-key-file']), environment, problems)
  // The error of a request with such a key would quote it.
  if (apiKey !== undefined && !VISIBLE.test(apiKey))
    problems.push(`The API key of --api-key-file or ${KEY_VARIABLE} must be visible characters in one line.`)
  if (problems.length > 0) return { problems }
  return {
    command: {
      url,
      gid,
      name,
      id: toText(values.id) ?? randomUUID(),
      ...(payload === undefined ? {} : { payload }),
      ...(apiKey === undefined ? {} : { apiKey }),
    },
  }
}

function readApiKey(
  path: string | undefined,
  environment: Environment,
  problems: string[],
): string | undefined {
  if (path === undefined) return environment[KEY_VARIABLE] || undefined
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error: unknown) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    problems.push(`The file of --api-key-file cannot be read${code}.`)
    return undefined
  }
}

/** A path cannot be put behind a query or a fragment, and the error of a request with a password would quote it. */
function isServerUrl(text: string): boolean {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
