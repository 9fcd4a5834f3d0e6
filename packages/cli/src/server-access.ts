import { readFileSync } from 'node:fs'

export type Environment = Readonly<Record<string, string | undefined>>

/** How a client of a server reaches it. */
export interface ServerAccess {
  readonly url: string
  readonly apiKey?: string
}

export const URL_VARIABLE = 'COUNTERSTEP_URL'
export const KEY_VARIABLE = 'COUNTERSTEP_API_KEY'
const KEY_FILE_VARIABLE = 'COUNTERSTEP_API_KEY_FILE'
/** Clients of a server read these variables, which `serve` must not take for misspelt settings. */
export const CLIENT_VARIABLES = [URL_VARIABLE, KEY_VARIABLE, KEY_FILE_VARIABLE]
export const DEFAULT_URL = 'http://127.0.0.1:8470'
const VISIBLE = /^[!-~]+$/

/** Reads where the server is and the key for it. An option goes before its variable. No problem quotes either. */
export function readServerAccess(
  given: { readonly url?: string | undefined; readonly keyFile?: string | undefined },
  environment: Environment,
  problems: string[],
): ServerAccess {
  const url = given.url || environment[URL_VARIABLE] || DEFAULT_URL
  if (!isServerUrl(url))
    problems.push(
      `--url or ${URL_VARIABLE} must be an http or https URL without a user, a query and a fragment.`,
    )
  const apiKey = readApiKey(given.keyFile, environment, problems)
  // The error of a request with such a key would quote it.
  if (apiKey !== undefined && !VISIBLE.test(apiKey))
    problems.push(`The API key of --key-file or ${KEY_VARIABLE} must be visible characters in one line.`)
  return { url, ...(apiKey === undefined ? {} : { apiKey }) }
}

function readApiKey(
  option: string | undefined,
  environment: Environment,
  problems: string[],
): string | undefined {
  const named = environment[KEY_VARIABLE] ? undefined : environment[KEY_FILE_VARIABLE] || undefined
  const path = option ?? named
  if (path === undefined) return environment[KEY_VARIABLE] || undefined
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error: unknown) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    problems.push(
      `The file of ${option === undefined ? KEY_FILE_VARIABLE : '--key-file'} cannot be read${code}.`,
    )
    return undefined
  }
}

/** A path cannot be put behind a query or a fragment, and the error of a request with a password would quote it. */
function isServerUrl(text: string): boolean {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}
