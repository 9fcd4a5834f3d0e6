import {
  findTimeRefusal,
  fitsDigest,
  parseVerificationKey,
  type VerificationKey,
  verifyHead,
} from '@counterstep/signature'
import { SeenCalls } from './seen-calls.ts'
import { toSignatureError } from './signature-refusal.ts'
import type { SignedCallsOptions } from './signed-calls-options.ts'

/** Describes a request whose head has arrived and whose body is not read yet. */
export interface ArrivedCall {
  readonly method: string
  /** The path and the query, as they stand in the request line. */
  readonly path: string
  /**
   * Returns the origin that the request was sent to according to its `Host` header, e.g. `https://bank.example`. It is
   * called only if `trustHost` is true.
   */
  readonly origin: () => string
  /** Returns the values of a header, one for each of its lines. */
  values(name: string): readonly string[]
}

/** Holds the two options as a JavaScript caller may pass them: both, or none. */
interface StatedAddress {
  readonly baseUrl?: string
  readonly trustHost?: boolean
}

/** Checks the body, which is the second half of the check. Throws a BranchError, too. */
export type BodyCheck = (body: Uint8Array) => void

export interface CallVerifier {
  /** Checks all but the body, so that a body is read only for a caller with a key. Throws a BranchError. */
  check(call: ArrivedCall): BodyCheck
}

export function callVerifier(options: SignedCallsOptions): CallVerifier {
  const { keys, callsRememberedMax = 0, now = Date.now } = options
  const known = mapKeysById(keys)
  const base = readBase(options)
  const seen = new SeenCalls(callsRememberedMax)
  return {
    check({ method, path, origin, values }) {
      // Without the slash, `https://bank.example` and `.elsewhere/debit` would make a URL of another host, for which
      // the signature would hold.
      if (!path.startsWith('/')) throw toSignatureError('mismatch')
      const verdict = verifyHead(
        { method, targetUri: (base ?? origin()) + path, values },
        known,
        now() / 1000,
      )
      if (verdict.refusal !== undefined) throw toSignatureError(verdict.refusal)
      const { digest, signature, times } = verdict
      return (body) => {
        // The time is read now and not when the head came. Otherwise a caller could repeat a call: it would send a copy of
        // the head in time, and the body only when `SeenCalls` has forgotten the original.
        const nowS = now() / 1000
        const untimely = findTimeRefusal(times, nowS)
        if (untimely !== undefined) throw toSignatureError(untimely)
        if (!fitsDigest(digest, body)) throw toSignatureError('body')
        seen.add(signature, nowS)
      }
    },
  }
}

function mapKeysById(keys: SignedCallsOptions['keys']): ReadonlyMap<string, VerificationKey> {
  const byId = new Map<string, VerificationKey>()
  for (const source of keys) {
    const key = parseVerificationKey(source)
    if (byId.has(key.keyId)) throw new TypeError(`two keys have the keyid ${key.keyId}`)
    byId.set(key.keyId, key)
  }
  if (byId.size === 0) throw new TypeError('signed calls need at least one key')
  return byId
}

/** Returns undefined if the `Host` header of each request is trusted, because the options have `trustHost: true`. */
function readBase({ baseUrl, trustHost }: StatedAddress): string | undefined {
  if (baseUrl !== undefined && trustHost === true)
    throw new TypeError('baseUrl and trustHost contradict each other: give one of them')
  if (baseUrl !== undefined) return checkBaseUrl(baseUrl)
  if (trustHost === true) return undefined
  throw new TypeError(
    'signed calls need baseUrl, the origin by which branch URLs name this service, such as https://bank.example: ' +
      'without it a call that was signed for another service would run here. trustHost: true trusts the Host header instead',
  )
}

/** Returns the base URL without the slash that every path begins with. */
function checkBaseUrl(text: string): string {
  const url = URL.parse(text)
  const isPlain = url !== null && url.search === '' && url.hash === '' && url.username + url.password === ''
  if (!isPlain || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError('baseUrl must be an http(s) URL without query, fragment and login')
  }
  return url.origin + url.pathname.replace(/\/$/, '')
}
