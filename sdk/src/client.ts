import type {
  Kind,
  Status,
  SubmitRequest,
  SubmitView,
  TransactionPage,
  TransactionSummary,
  TransactionView,
} from '@counterstep/protocol'
import { command } from './command.ts'
import { listAll, listPage } from './list.ts'
import type { Saga } from './saga.ts'
import { submit } from './submit.ts'
import { fetchTransaction } from './transaction.ts'
import { createTransport } from './transport.ts'
import { waitUntilFinal } from './wait.ts'

/**
 * How to reach a server.
 *
 * @example
 * ```ts
 * const options: ClientOptions = { url: 'http://127.0.0.1:8470', timeoutMs: 5_000 }
 * ```
 */
export interface ClientOptions {
  /** The server's base URL, http or https, for example `http://127.0.0.1:8470`. */
  readonly url: string | URL
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** Sent with every request, for example an authorization. */
  readonly headers?: Readonly<Record<string, string>>
  /** For one attempt, without the time of a wait. Default 10,000. */
  readonly timeoutMs?: number
  /** For how long a call is tried again while its outcome is open. Default 30,000; 0 tries once. */
  readonly retryForMs?: number
}

/**
 * What each call may say for itself.
 *
 * @example
 * ```ts
 * await client.get(gid, { signal: AbortSignal.timeout(2_000) })
 * ```
 */
export interface CallOptions {
  /** Ends the call; it rejects with the signal's reason. What was sent may still be done. */
  readonly signal?: AbortSignal
  /** Instead of the client's. */
  readonly retryForMs?: number
}

/**
 * What a submit may say for itself.
 *
 * @example
 * ```ts
 * await client.submit(transfer, { waitMs: 10_000 })
 * ```
 */
export interface SubmitOptions extends CallOptions {
  /** Answer when the transaction is final, or after this time. 0 to 60,000; whole seconds go out. Default: no wait. */
  readonly waitMs?: number
}

/**
 * What a wait may say for itself.
 *
 * @example
 * ```ts
 * await client.wait(gid, { timeoutMs: 120_000 })
 * ```
 */
export interface WaitOptions {
  readonly signal?: AbortSignal
  /** Default 60,000. */
  readonly timeoutMs?: number
}

/**
 * Which transactions to list. Instants are milliseconds from the epoch.
 *
 * @example
 * ```ts
 * const filter: ListFilter = { status: ['submitted', 'aborting'], createdTo: Date.now() - 60_000 }
 * ```
 */
export interface ListFilter {
  readonly status?: Status | readonly Status[]
  readonly kind?: Kind
  /** An op waits to be asked again. */
  readonly retrying?: boolean
  /** A person should look at it. */
  readonly attention?: boolean
  /** Inclusive. */
  readonly createdFrom?: number
  /** Exclusive. */
  readonly createdTo?: number
  /** Of one page: 1 to 200, default 50. */
  readonly limit?: number
  /** From the page before. */
  readonly cursor?: string
}

/**
 * A server, as a value. Every call throws RefusedError for a definite no, UnavailableError when the outcome stayed
 * open for `retryForMs`, and the signal's reason when it was aborted.
 *
 * @example
 * ```ts
 * const client: Client = createClient({ url: 'http://127.0.0.1:8470' })
 * ```
 */
export interface Client {
  /**
   * Stores a transaction and starts it. Resolves when it is durable, or final with `waitMs`. Sent again by its gid
   * while the outcome is open, which cannot run it twice. Throws SAGA_GID_CONFLICT when the gid has other content.
   */
  submit(transaction: Saga | SubmitRequest, options?: SubmitOptions): Promise<SubmitView>
  /** Resolves when the transaction is final. Throws NotFinalError with what was seen last, and SAGA_UNKNOWN_GID. */
  wait(gid: string, options?: WaitOptions): Promise<TransactionView>
  /** Throws SAGA_UNKNOWN_GID. */
  get(gid: string, options?: CallOptions): Promise<TransactionView>
  /** All that match, newest first, fetched page by page. */
  list(filter?: ListFilter, options?: CallOptions): AsyncIterable<TransactionSummary>
  /** One page; its `cursor` leads to the next. */
  page(filter?: ListFilter, options?: CallOptions): Promise<TransactionPage>
  /** Turns it around: what may have run is compensated. Resolves when that is decided for good. Throws SAGA_ALREADY_FINAL. */
  abort(gid: string, options?: CallOptions): Promise<TransactionView>
  /** Asks again now what waits for its back-off. Throws SAGA_ALREADY_FINAL. */
  retry(gid: string, options?: CallOptions): Promise<TransactionView>
  /** Ends it as it is, undoing nothing. For operators. Throws SAGA_ALREADY_FINAL. */
  stop(gid: string, options?: CallOptions): Promise<TransactionView>
}

/**
 * A client of one server. Throws a TypeError for a URL that is not http(s), or has a login in it.
 *
 * @example
 * ```ts
 * const client = createClient({ url: 'http://127.0.0.1:8470' })
 * const transfer = saga()
 *   .branch('debit', { action: 'http://bank-a/debit', compensation: 'http://bank-a/debit/undo' })
 *   .branch('credit', { action: 'http://bank-b/credit', compensation: 'http://bank-b/credit/undo' })
 * const { status } = await client.submit(transfer, { waitMs: 10_000 })
 * ```
 */
export function createClient({
  url,
  fetch = globalThis.fetch,
  headers = {},
  timeoutMs = 10_000,
  retryForMs = 30_000,
}: ClientOptions): Client {
  const base = new URL(url)
  if (base.protocol !== 'http:' && base.protocol !== 'https:')
    throw new TypeError('url must be http or https')
  if (base.username !== '' || base.password !== '')
    throw new TypeError('url must have no login: send it in headers')
  const setup = { send: createTransport({ url: base, fetch, headers }), timeoutMs, retryForMs }
  return {
    submit: (transaction, options = {}) => submit(setup, transaction, options),
    wait: (gid, options = {}) => waitUntilFinal(setup, gid, options),
    get: (gid, options = {}) => fetchTransaction(setup, gid, options),
    list: (filter = {}, options = {}) => listAll(setup, filter, options),
    page: (filter = {}, options = {}) => listPage(setup, filter, options),
    abort: (gid, options = {}) => command(setup, 'abort', gid, options),
    retry: (gid, options = {}) => command(setup, 'retry', gid, options),
    stop: (gid, options = {}) => command(setup, 'stop', gid, options),
  }
}
