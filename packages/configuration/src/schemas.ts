import { isIP } from 'node:net'
import { isScope, readHostname, readNetworks } from '@counterstep/access'
import type { Parsed } from '@counterstep/branch-http/targets'
import * as z from 'zod/mini'
import { isLoopback } from './loopback.ts'
import { readNamedFile } from './named-file.ts'

/**
 * Reads a setting's text. Its first message continues after the setting's name and never quotes the text, which may
 * be a password.
 */
export type TextSchema<Value> = z.ZodMiniType<Value, unknown>

const NAMES_MAX = 64
const ARN = /^arn:aws[a-z-]{0,16}:secretsmanager:[a-z0-9-]{1,32}:\d{12}:secret:[\w/+=.@-]{1,519}$/
const IS_ARN = 'must be the ARN of a secret, arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME'

export const nonEmpty = z.string().check(z.refine((text) => text.trim() !== '', 'must not be empty'))
export const anyText = z.string()

/** This is the schema of a switch, whose flag stands alone and means `true`. */
export const trueOrFalse = readBoolean('true', 'false', 'must be true or false')
export const onOrOff = readBoolean('on', 'off', 'must be one of on, off')

export const wholeNumber = (min: number, max: number) =>
  readNumber(/^\d{1,15}$/, min, max, 'must be a whole number')

export const decimal = (min: number, max: number) =>
  readNumber(/^\d{1,9}(\.\d{1,9})?$/, min, max, 'must be a number')

export function word<const Word extends string>(...words: readonly Word[]) {
  return z.enum(words, `must be one of ${words.join(', ')}`)
}

/** Adds one word, for example `never`, to the values of another schema. */
export function orWord<const Meaning, Value>(word: string, meaning: Meaning, schema: TextSchema<Value>) {
  const named = z.pipe(
    z.literal(word),
    z.transform(() => meaning),
  )
  return z.union([named, schema], {
    error: ({ errors }) => `${errors?.at(-1)?.[0]?.message}, or "${word}"`,
  })
}

/** Takes an empty text as not set. The code that uses the setting decides what then holds. */
export function orUnset<Value>(schema: TextSchema<Value>) {
  const emptied = z.transform((text: unknown) => (text === '' ? undefined : text))
  return z.pipe(emptied, z.optional(schema))
}

export function readWith<Value>(parse: (text: string) => Parsed<Value>) {
  return z.pipe(
    z.string(),
    z.transform((text, { issues }): Value => {
      const parsed = parse(text)
      if ('value' in parsed) return parsed.value
      issues.push({ code: 'custom', input: text, message: parsed.problem })
      return z.NEVER
    }),
  )
}

/** Kubernetes sets NAME_PORT=tcp://… for a service called NAME, and so COUNTERSTEP_PORT for one called counterstep. */
export const portNumber = z.pipe(
  z
    .string()
    .check(
      z.refine(
        (text) => !text.startsWith('tcp://'),
        'was set by Kubernetes for a service of this name; set enableServiceLinks: false',
      ),
    ),
  wholeNumber(0, 65_535),
)

// Braces would take the keys out of their cluster slots.
export const keyPrefix = matchPattern(/^[\w:.-]{1,64}$/, 'must be 1 to 64 letters, digits, _, :, . and -')
export const secretArn = z.string().check(z.maxLength(2_048, IS_ARN), z.regex(ARN, IS_ARN))
/** Takes a name that CloudWatch accepts. Names that start with AWS/ are Amazon's own. */
export const metricsNamespace = matchPattern(
  /^(?!AWS\/)[\w.#/:-]{1,255}$/,
  'must be 1 to 255 letters, digits, _, ., #, /, : and -, and must not start with AWS/',
)
export const dnsName = z
  .string()
  .check(
    z.refine(
      (text) => /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text) && isIP(text) === 0,
      'must be a host name',
    ),
  )

export const scopes = readWith((text) => {
  const value = splitItems(text)
  return value.every(isScope) ? { value } : { problem: 'must be scopes such as submit,read' }
})

export const networks = readWith((text) => {
  const value = readNetworks(splitItems(text))
  return value === undefined ? { problem: 'must be networks such as 10.0.0.0/8,fd00::/8' } : { value }
})

export const hostNames = readWith((text) => {
  const value = splitItems(text)
  // A host has letters, digits and the signs of names, or is an address. A pattern that fits several hosts is refused.
  const isHost = (name: string) => /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(readHostname(name) ?? '')
  return value.length <= NAMES_MAX && value.every(isHost)
    ? { value }
    : { problem: `must be at most ${NAMES_MAX} host names, without a scheme` }
})

export const proxyUrl = readWith((text) => {
  const url = parseWithSlashes(text)
  const isProxy =
    url !== null && /^https?:$/.test(url.protocol) && url.pathname + url.search + url.hash === '/'
  return isProxy ? { value: url.href } : { problem: 'must be the URL of a proxy: http://HOST:PORT' }
})

/** Parses a URL that is written as people know it. `http:user:word@host` is one, too, in which no login would be looked for. */
function parseWithSlashes(text: string): URL | null {
  return /^https?:\/\//i.test(text) ? URL.parse(text) : null
}

/** Takes where telemetry is sent. The standard's paths are put behind it, so it has neither one of them nor a query. */
export const receiverUrl = readWith((text) => {
  const url = text.length <= 2_048 ? parseWithSlashes(text) : null
  const isReceiver =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.search + url.hash === '' &&
    !/\/v1\/(traces|metrics)\/?$/.test(url.pathname)
  return isReceiver
    ? { value: text }
    : { problem: 'must be the URL of a receiver, without the path /v1/traces: http://HOST:4318' }
})

/** Takes the URL of an SQS queue, or of a stand-in on this machine. */
export const queueUrl = readWith((text) => {
  const url = text.length <= 2_048 ? URL.parse(text) : null
  const isLocal = url?.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[(.*)\]$/, '$1'))
  if (url?.protocol !== 'https:' && !isLocal)
    return { problem: 'must be the https URL of an SQS queue; http only on this machine' }
  if (url.username + url.password + url.search + url.hash !== '')
    return { problem: 'must have no login and no parameters' }
  // A FIFO queue takes no delay for a single message, and a stuck message holds up those behind it.
  if (url.pathname.endsWith('.fifo')) return { problem: 'must be a standard queue, not a FIFO one' }
  return { value: text }
})

/** Turns the path of a PEM file into its text. */
export const certificates = readWith((path) => {
  const file = readNamedFile(path)
  if ('problem' in file || file.value.includes('-----BEGIN CERTIFICATE-----')) return file
  return { problem: 'names a file without a certificate in PEM' }
})

/** Turns the path of a file with a private key into its text. */
export const privateKey = readWith((path) => {
  const file = readNamedFile(path)
  if ('problem' in file || /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(file.value)) return file
  return { problem: 'names a file without a private key in PEM' }
})

/** Turns `bank=/etc/bank-ca.pem,ledger=/etc/ledger-ca.pem` into the text of each file by the name of its service. */
export const pemByService = readWith((text): Parsed<ReadonlyMap<string, string>> => {
  const pems = new Map<string, string>()
  for (const [at, item] of splitItems(text).entries()) {
    if (item === '') continue
    const [, name = '', path = ''] = /^([^=]*)=(.+)$/.exec(item) ?? []
    if (name === '') return { problem: `has an item ${at + 1} that must be NAME=FILE` }
    if (pems.has(name)) return { problem: `names ${name} twice` }
    const file = readNamedFile(path)
    if ('problem' in file) return { problem: `${file.problem}, for ${name}` }
    if (!file.value.includes('-----BEGIN ')) return { problem: `names a file without PEM, for ${name}` }
    pems.set(name, file.value)
  }
  return { value: pems }
})

function readBoolean(yes: string, no: string, error: string) {
  return z.stringbool({ truthy: [yes], falsy: [no], case: 'sensitive', error })
}

function readNumber(pattern: RegExp, min: number, max: number, kind: string) {
  const problem = `${kind} from ${min} to ${max}`
  const digits = z.pipe(matchPattern(pattern, problem), z.transform(Number))
  // Without `abort` a union would pass this problem on as its own.
  const bound = { error: problem, abort: true }
  return z.pipe(digits, z.number().check(z.gte(min, bound), z.lte(max, bound)))
}

function matchPattern(pattern: RegExp, problem: string) {
  return z.string().check(z.regex(pattern, problem))
}

function splitItems(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim())
}
