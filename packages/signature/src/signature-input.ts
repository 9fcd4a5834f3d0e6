import { LABEL } from './profile.ts'

const INPUT_LENGTH_MAX = 2_048
const SIGNATURE_LENGTH_MAX = 256
const NAME = '"@?[a-z0-9][a-z0-9-]*"'
const INPUT = new RegExp(
  `^${LABEL}=(\\((${NAME}(?: ${NAME})*)\\)((?:;[a-z]+=(?:\\d{1,15}|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"))+))$`,
)
const PARAMETER = /;([a-z]+)=(?:(\d+)|"([^"]*)")/g
const SIGNATURE = new RegExp(`^${LABEL}=:([A-Za-z0-9+/]+={0,2}):$`)
const NUMBERS: ReadonlySet<string> = new Set(['created', 'expires'])
const TEXTS: ReadonlySet<string> = new Set(['keyid', 'alg', 'tag'])

export interface SignatureInput {
  readonly names: readonly string[]
  /** This is the text behind the label, as it came. The signature base ends with it. */
  readonly parameters: string
  readonly created: number
  readonly expires: number
  readonly keyId: string
  readonly algorithm: string
  readonly tag: string
}

/** Returns undefined for all but the one form that a signer of branch calls writes, with each parameter once. */
export function readSignatureInput(text: string): SignatureInput | undefined {
  const match = text.length > INPUT_LENGTH_MAX ? null : INPUT.exec(text)
  if (match === null) return undefined
  const [, parameters = '', list = '', tail = ''] = match
  const numbers = new Map<string, number>()
  const texts = new Map<string, string>()
  for (const [, name = '', digits, quoted] of tail.matchAll(PARAMETER)) {
    if (numbers.has(name) || texts.has(name)) return undefined
    if (digits !== undefined && NUMBERS.has(name)) numbers.set(name, Number(digits))
    else if (quoted !== undefined && TEXTS.has(name)) texts.set(name, quoted)
    else return undefined
  }
  const names = list.split(' ').map((quoted) => quoted.slice(1, -1))
  const [created, expires] = [numbers.get('created'), numbers.get('expires')]
  const [keyId, algorithm, tag] = [texts.get('keyid'), texts.get('alg'), texts.get('tag')]
  if (created === undefined || expires === undefined || new Set(names).size !== names.length) return undefined
  if (keyId === undefined || algorithm === undefined || tag === undefined) return undefined
  return { names, parameters, created, expires, keyId, algorithm, tag }
}

/**
 * Returns undefined for a text that is not canonical base64, because a service that counts signatures would take two
 * texts of one for two calls.
 */
export function readSignature(text: string): Buffer | undefined {
  const base64 = text.length > SIGNATURE_LENGTH_MAX ? undefined : SIGNATURE.exec(text)?.[1]
  if (base64 === undefined) return undefined
  const bytes = Buffer.from(base64, 'base64')
  return bytes.toString('base64') === base64 ? bytes : undefined
}
