import { BUDGET, CONTENT_TYPE, IDENTITY_NAMES, listRequiredNames, TAG, UNDO } from './profile.ts'
import { fitsBase } from './sign-base.ts'
import { buildSignatureBase } from './signature-base.ts'
import { readSignature, readSignatureInput, type SignatureInput } from './signature-input.ts'
import { stripBlanks } from './strip-blanks.ts'
import type { VerificationKey } from './verification-key.ts'

/** The clocks of orchestrator and service may differ by this time, and a call may be this old. */
export const CLOCK_SKEW_S = 300
/**
 * A barrier must keep its rows at least this long, because a call that is valid for longer could run again after its
 * row is gone.
 */
export const LIFETIME_S_MAX = 86_400

/** Gives access to a request without its body. */
export interface CallHead {
  readonly method: string
  /** It is the URL that the caller addressed: the service's own origin, then path and query as they came. */
  readonly targetUri: string
  /** Returns the values of a header, one for each of its lines. `name` is in lower case. */
  values(name: string): readonly string[]
}

/**
 * Says why a signature is refused.
 *
 * - `missing`: There is no signature.
 * - `malformed`: It does not have our form, or does not cover what it must.
 * - `unknown-key`: No key has its id.
 * - `algorithm`: It names another algorithm than that of the key.
 * - `expired` and `future`: The clock of this side says so.
 * - `mismatch`: It is not the signature of this request.
 */
export type SignatureRefusal =
  | 'missing'
  | 'malformed'
  | 'unknown-key'
  | 'algorithm'
  | 'expired'
  | 'future'
  | 'mismatch'

export type HeadVerdict =
  | { readonly refusal: SignatureRefusal }
  | {
      readonly refusal?: undefined
      /** The body must have this digest, which is the signed Content-Digest. */
      readonly digest: string
      readonly signature: Buffer
      /** `findTimeRefusal` checks them once more when the body has come, because the sender chooses when that is. */
      readonly times: SignedTimes
    }

/** Both are epoch seconds. */
export interface SignedTimes {
  readonly created: number
  readonly expires: number
}

export function verifyHead(
  head: CallHead,
  keys: ReadonlyMap<string, VerificationKey>,
  nowS: number,
): HeadVerdict {
  const read = readSigned(head)
  if ('refusal' in read) return read
  const { input, signature } = read
  const components = readComponents(head, input)
  if (components === undefined || input.tag !== TAG) return { refusal: 'malformed' }
  const untimely = findTimeRefusal(input, nowS)
  if (untimely !== undefined) return { refusal: untimely }
  const key = keys.get(input.keyId)
  if (key === undefined) return { refusal: 'unknown-key' }
  if (key.algorithm !== input.algorithm) return { refusal: 'algorithm' }
  const base = buildSignatureBase([...components], input.parameters)
  if (!fitsBase(key, base, signature)) return { refusal: 'mismatch' }
  return { digest: components.get('content-digest') ?? '', signature, times: input }
}

function readSigned(
  head: CallHead,
): { readonly refusal: SignatureRefusal } | { readonly input: SignatureInput; readonly signature: Buffer } {
  const inputs = head.values('signature-input')
  const signatures = head.values('signature')
  if (inputs.length === 0 && signatures.length === 0) return { refusal: 'missing' }
  const [inputText, signatureText] = [readSingleValue(inputs), readSingleValue(signatures)]
  if (inputText === undefined || signatureText === undefined) return { refusal: 'malformed' }
  const input = readSignatureInput(inputText)
  const signature = readSignature(signatureText)
  return input === undefined || signature === undefined ? { refusal: 'malformed' } : { input, signature }
}

/**
 * Maps names to values in the signer's order. It is undefined if a component is missing, is there twice, or is
 * unknown.
 */
function readComponents(head: CallHead, { names }: SignatureInput): ReadonlyMap<string, string> | undefined {
  const components = new Map<string, string>()
  for (const name of names) {
    const value = readComponent(head, name)
    if (value === undefined || /[\r\n]/.test(value)) return undefined
    components.set(name, value)
  }
  const hasContentType = head.values(CONTENT_TYPE).length > 0
  const sentNames = [...IDENTITY_NAMES, BUDGET, UNDO].filter((name) => head.values(name).length > 0)
  const required = [...listRequiredNames(hasContentType), ...sentNames]
  return required.every((name) => components.has(name)) ? components : undefined
}

function readComponent(head: CallHead, name: string): string | undefined {
  if (name === '@method') return head.method
  if (name === '@target-uri') return head.targetUri
  return name.startsWith('@') ? undefined : readSingleValue(head.values(name))
}

function readSingleValue(values: readonly string[]): string | undefined {
  const [value] = values
  return value === undefined || values.length > 1 ? undefined : stripBlanks(value)
}

export function findTimeRefusal(
  { created, expires }: SignedTimes,
  nowS: number,
): SignatureRefusal | undefined {
  if (expires <= created || expires - created > LIFETIME_S_MAX) return 'malformed'
  if (created > nowS + CLOCK_SKEW_S) return 'future'
  // The signer may allow more, but a call older than this is not still on its way: it was kept and sent again.
  return nowS > expires || created < nowS - CLOCK_SKEW_S ? 'expired' : undefined
}
