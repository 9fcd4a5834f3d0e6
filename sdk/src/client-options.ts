/**
 * Says how to reach a server.
 *
 * @example
 * ```ts
 * const options: ClientOptions = { url: 'http://127.0.0.1:8470', timeoutMs: 5_000 }
 * ```
 */
export interface ClientOptions {
  /**
   * This is the server's base URL, http or https, for example `http://127.0.0.1:8470`. It may also be a list of
   * several servers **of one store**: the client stays with the one that answers, and goes on to the next one when it
   * does not (see `retryForMs`). Servers of different stores do not know each other's gids, so that a submit that
   * goes on to one of them would run twice.
   */
  readonly url: string | URL | readonly (string | URL)[]
  /**
   * The default on Node is its own HTTP client over kept connections, which costs a third, and elsewhere the global
   * `fetch`. Give one, for example `globalThis.fetch`, to send through a proxy, a dispatcher or an interceptor of
   * `fetch`.
   */
  readonly fetch?: typeof globalThis.fetch
  /**
   * This is an API key of the server, sent as `Authorization: Bearer`. No error shows the key, and no branch gets it. A
   * function is asked before each attempt, so that a new key can come from a file or a vault while the client lives.
   */
  readonly apiKey?: string | (() => string | Promise<string>)
  /** They are sent with every request, for example an authorization for a proxy. */
  readonly headers?: Readonly<Record<string, string>>
  /** This is the time limit of one attempt, in milliseconds, without the time of a wait. The default is 10,000, and the most is a day. */
  readonly timeoutMs?: number
  /**
   * Says how long a call is tried again while its outcome is open, in milliseconds. The default is 30,000; 0 tries
   * once. With several URLs, if one of them gives no answer or a 502, 503 or 504, the next one is asked at once. The
   * client waits only when each URL has been asked.
   */
  readonly retryForMs?: number
  /**
   * One answer may have this many bytes, unpacked. A longer answer fails with SAGA_ANSWER_TOO_LARGE, and its connection
   * is ended. The default is 4 MiB, and the range 1 KiB to 256 MiB.
   */
  readonly answerBytesMax?: number
}
