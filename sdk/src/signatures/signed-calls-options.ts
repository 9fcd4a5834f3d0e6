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
   * Says how this service is addressed in the branches' URLs, e.g. `https://bank.example`; with a path, if a proxy
   * takes that away. Nothing that a request says of its host is believed then.
   */
  readonly baseUrl: string
  readonly trustHost?: false
}

/** The service believes the host that each request names, which its sender chooses. */
interface TrustedHost {
  /**
   * The Host header, and the proxy's headers where the framework trusts them, say where a call went. A call that was
   * signed for another service runs here too when its sender repeats that service's host. Set it only where a proxy
   * in front refuses every host but this service's own.
   */
  readonly trustHost: true
  readonly baseUrl?: never
}

interface SignedCallsSettings {
  /**
   * At least one: the line that `counterstep signing-key create` printed (a JWK, as text or object), a public key in PEM,
   * or the whole JSON of an HMAC key. While a key is replaced, the old one and the new one.
   */
  readonly keys: readonly (string | object)[]
  /**
   * Set it for a service without a barrier, which would do a repeated call twice: this many calls are remembered for
   * ten minutes, and one that was seen is refused. When the memory is full, calls wait (503) until there is room.
   * The default is 0: no call is remembered.
   */
  readonly callsRememberedMax?: number
  /** Is called for every call that was refused. */
  readonly onRefused?: (error: BranchError) => void
  /** Epoch milliseconds. The default is `Date.now`. */
  readonly now?: () => number
}
