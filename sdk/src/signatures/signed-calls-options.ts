import type { BranchError } from '../branch/branch-errors.ts'

/**
 * The settings that tell a service about the orchestrator that calls it, and about its own address: `baseUrl`, or
 * `trustHost: true`.
 *
 * @example
 * ```ts
 * const options: SignedCallsOptions = {
 *   keys: [process.env.COUNTERSTEP_KEY ?? '', process.env.COUNTERSTEP_KEY_NEXT ?? ''].filter((key) => key !== ''),
 *   baseUrl: 'https://bank.example',
 * }
 * ```
 */
export type SignedCallsOptions = SignedCallsSettings & (KnownAddress | TrustedHost)

/** The service knows its own address, so that it refuses a call that was signed for another service. */
interface KnownAddress {
  /**
   * Says how the branches' URLs address this service, for example `https://bank.example`. It has a path if a proxy
   * removes that path. With this option the service believes nothing that a request says of its host.
   */
  readonly baseUrl: string
  readonly trustHost?: false
}

/** The service believes the host that each request names, which its sender chooses. */
interface TrustedHost {
  /**
   * The Host header, and the proxy's headers where the framework trusts them, say where a call went. A call that was
   * signed for another service runs here too when its sender repeats that service's host. Set it only if a proxy before
   * the service refuses every host but the service's own.
   */
  readonly trustHost: true
  readonly baseUrl?: never
}

interface SignedCallsSettings {
  /**
   * Give at least one key: the line that `counterstep signing-key create` printed (a JWK, as text or object), a
   * public key in PEM, or the whole JSON of an HMAC key. While a key is replaced, give the old one and the new one.
   */
  readonly keys: readonly (string | object)[]
  /**
   * Set it for a service without a barrier, which would run a repeated call twice. This many calls are remembered for
   * ten minutes, and a call that was seen before is refused. When the memory is full, calls wait (503) until there is
   * room. The default is 0: no call is remembered.
   */
  readonly callsRememberedMax?: number
  /** Is called for every call that was refused. */
  readonly onRefused?: (error: BranchError) => void
  /** Returns the time in epoch milliseconds. The default is `Date.now`. */
  readonly now?: () => number
}
