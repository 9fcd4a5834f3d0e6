import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import {
  DEFAULT_URL,
  type Environment,
  KEY_VARIABLE,
  readServerAccess,
  type ServerAccess,
  URL_VARIABLE,
} from './server-access.ts'

/** `help`: the usage was asked for. */
export type SignalRequest = SignalCommand | 'help'

export interface SignalCommand extends ServerAccess {
  readonly gid: string
  readonly name: string
  readonly id: string
  /** The payload as JSON. */
  readonly payload?: string
}

const OPTIONS = {
  url: { type: 'string' },
  id: { type: 'string' },
  payload: { type: 'string' },
  'key-file': { type: 'string' },
  'api-key-file': { type: 'string' },
  help: { type: 'boolean' },
} as const

export const SIGNAL_USAGE = [
  'counterstep signal GID NAME [--payload JSON] [--id ID] [--url URL] [--key-file FILE]',
  '',
  'Gives the saga GID the signal NAME that one of its branches waits for. The same ID with the same payload is the',
  'same signal, however often it is sent; by default a new one is made and printed. Write -- before a GID or a NAME',
  'that begins with a dash, and the options before that.',
  '',
  `  The server: --url, or ${URL_VARIABLE}; by default ${DEFAULT_URL}.`,
  `  The API key, with the scope signal: ${KEY_VARIABLE}, or the file of --key-file. Options show in the list`,
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
  const isKnown = Object.entries(values).every(
    ([key, value]) => Object.hasOwn(OPTIONS, key) && typeof value === 'string',
  )
  if (!isKnown || positionals.length !== 2 || gid === '' || name === '')
    return { problems: ['signal takes a GID and a NAME; see signal --help.'] }
  const payload = toText(values.payload)
  const problems: string[] = []
  if (payload !== undefined && !isJson(payload))
    problems.push('--payload must be JSON, such as \'{"by":"kim"}\'.')
  // The second name is the older one.
  const keyFile = toText(values['key-file']) ?? toText(values['api-key-file'])
  const access = readServerAccess({ url: toText(values.url), keyFile }, environment, problems)
  if (problems.length > 0) return { problems }
  return {
    command: {
      ...access,
      gid,
      name,
      id: toText(values.id) ?? randomUUID(),
      ...(payload === undefined ? {} : { payload }),
    },
  }
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
