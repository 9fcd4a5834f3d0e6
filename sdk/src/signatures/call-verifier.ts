import {
  isDigestOf,
  timeRefusal,
  type VerificationKey,
  verificationKeyOf,
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
  /** What the request says of where it went, e.g. `https://bank.example`. Looked at without `baseUrl` alone. */
  readonly origin: () => string
  /** Every value of a header, one for each line. */
  values(name: string): readonly string[]
}

/** The second half of the check; throws a BranchError too. */
export type BodyCheck = (body: Uint8Array) => void

export interface CallVerifier {
  /** Checks all but the body, so that a body is read only for who has a key. Throws a BranchError. */
  check(call: ArrivedCall): BodyCheck
}

export function callVerifier({
  keys,
  baseUrl,
  callsRememberedMax = 0,
  now = Date.now,
}: SignedCallsOptions): CallVerifier {
  const known = keysById(keys)
  const base = baseUrl === undefined ? undefined : checkedBaseUrl(baseUrl)
  const seen = new SeenCalls(callsRememberedMax)
  return {
    check({ method, path, origin, values }) {
      // Or `https://bank.example` and `.elsewhere/debit` would make what was signed for somebody else.
      if (!path.startsWith('/')) throw signatureError('mismatch')
      const verdict = verifyHead(
        { method, targetUri: (base ?? origin()) + path, values },
        known,
        now() / 1000,
      )
      if (verdict.refusal !== undefined) throw signatureError(verdict.refusal)
      const { digest, signature, times } = verdict
      return (body) => {
        // Of now, not of the head: who holds the body back would come again when the first is forgotten.
        const nowS = now() / 1000
        const untimely = timeRefusal(times, nowS)
        if (untimely !== undefined) throw signatureError(untimely)
        if (!isDigestOf(digest, body)) throw signatureError('body')
        seen.add(signature, nowS)
      }
    },
  }
}

function keysById(keys: SignedCallsOptions['keys']): ReadonlyMap<string, VerificationKey> {
  const byId = new Map<string, VerificationKey>()
  for (const source of keys) {
    const key = verificationKeyOf(source)
    if (byId.has(key.keyId)) throw new TypeError(`two keys have the keyid ${key.keyId}`)
    byId.set(key.keyId, key)
  }
  if (byId.size === 0) throw new TypeError('signed calls need at least one key')
  return byId
}

/** Without the slash that every path begins with. */
function checkedBaseUrl(text: string): string {
  const url = URL.parse(text)
  const isPlain = url !== null && url.search === '' && url.hash === '' && url.username + url.password === ''
  if (!isPlain || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError('baseUrl must be an http(s) URL without query, fragment and login')
  }
  return url.origin + url.pathname.replace(/\/$/, '')
}
