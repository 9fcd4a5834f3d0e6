import {
  findTimeRefusal,
  fitsDigest,
  parseVerificationKey,
  type VerificationKey,
  verifyHead,
} from '@counterstep/signature'
import { SeenCalls } from './seen-calls.ts'
import { signatureError } from './signature-refusal.ts'
import type { SignedCallsOptions } from './signed-calls-options.ts'

/** A request as a framework has it before it looks at its body. */
export interface ArrivedCall {
  readonly method: string
  /** Path and query, as they stand in the request line. */
  readonly path: string
  /**
   * Returns the origin that the request was sent to by its own account, e.g. `https://bank.example`. It is read with
   * `trustHost` only.
   */
  readonly origin: () => string
  /** Returns the values of a header, one for each of its lines. */
  values(name: string): readonly string[]
}

/** The two options as a caller without types may pass them. */
interface StatedAddress {
  readonly baseUrl?: string
  readonly trustHost?: boolean
}

/** Checks the body, as the second half of the check. Throws a BranchError too. */
export type BodyCheck = (body: Uint8Array) => void

export interface CallVerifier {
  /** Checks all but the body, so that a body is read only for a caller with a key. Throws a BranchError. */
  check(call: ArrivedCall): BodyCheck
}

export function callVerifier(options: SignedCallsOptions): CallVerifier {
  const { keys, callsRememberedMax = 0, now = Date.now } = options
  const known = keysById(keys)
  const base = readBase(options)
  const seen = new SeenCalls(callsRememberedMax)
  return {
    check({ method, path, origin, values }) {
      // Without the slash, `https://bank.example` and `.elsewhere/debit` would make a URL of another host, for which
      // the signature would hold.
      if (!path.startsWith('/')) throw signatureError('mismatch')
      const verdict = verifyHead(
        { method, targetUri: (base ?? origin()) + path, values },
        known,
        now() / 1000,
      )
      if (verdict.refusal !== undefined) throw signatureError(verdict.refusal)
      const { digest, signature, times } = verdict
      return (body) => {
        // The time is read now and not when the head came. Otherwise a caller could hold the body back until the
        // first call is forgotten, and send it again.
        const nowS = now() / 1000
        const untimely = findTimeRefusal(times, nowS)
        if (untimely !== undefined) throw signatureError(untimely)
        if (!fitsDigest(digest, body)) throw signatureError('body')
        seen.add(signature, nowS)
      }
    },
  }
}

function keysById(keys: SignedCallsOptions['keys']): ReadonlyMap<string, VerificationKey> {
  const byId = new Map<string, VerificationKey>()
  for (const source of keys) {
    const key = parseVerificationKey(source)
    if (byId.has(key.keyId)) throw new TypeError(`two keys have the keyid ${key.keyId}`)
    byId.set(key.keyId, key)
  }
  if (byId.size === 0) throw new TypeError('signed calls need at least one key')
  return byId
}

/** Undefined means that the host of each request is trusted, because the options say so by name. */
function readBase({ baseUrl, trustHost }: StatedAddress): string | undefined {
  if (baseUrl !== undefined && trustHost === true)
    throw new TypeError('baseUrl and trustHost contradict each other: give one of them')
  if (baseUrl !== undefined) return checkedBaseUrl(baseUrl)
  if (trustHost === true) return undefined
  throw new TypeError(
    "signed calls need baseUrl, how the branches' URLs address this service (https://bank.example), or else a call that " +
      'was signed for another service would run here; trustHost: true believes the Host header instead',
  )
}

/** Returns the base URL without the slash that every path begins with. */
function checkedBaseUrl(text: string): string {
  const url = URL.parse(text)
  const isPlain = url !== null && url.search === '' && url.hash === '' && url.username + url.password === ''
  if (!isPlain || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError('baseUrl must be an http(s) URL without query, fragment and login')
  }
  return url.origin + url.pathname.replace(/\/$/, '')
}
