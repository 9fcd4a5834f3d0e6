import type {
  NamesView,
  OverviewView,
  PanelsView,
  PanelView,
  PlanView,
  PreviewRequest,
  ProblemsView,
  ServicesView,
  TransactionPage,
  TransactionRequestView,
  TransactionSummary,
  TransactionView,
} from '@counterstep/protocol'
import { createKeyReader } from '../api-key.ts'
import type { ClientOptions } from '../client-options.ts'
import { createSetup } from '../create-setup.ts'
import { listAll, listPage } from '../list.ts'
import type { CallOptions, ListFilter } from '../options.ts'
import { toJson } from '../to-json.ts'
import { fetchTransaction, transactionPath } from '../transaction.ts'
import { checkUrls } from '../transport/server-urls.ts'
import { type Bulk, createBulk } from './bulk.ts'
import type {
  AbortCommandOptions,
  CommandOptions,
  EditOptions,
  OpName,
  PauseOptions,
  ReasonedOptions,
  SkipOptions,
} from './command-options.ts'
import { giveCommand } from './give-command.ts'
import { createLiveOpener } from './live-stream.ts'
import { look, lookByPost } from './look.ts'
import { ServerClock } from './server-clock.ts'
import { type WatchOptions, watch } from './watch.ts'

/** The requests of the largest transaction, each of them written out and once more as a submit. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024

/**
 * Finds and mends transactions. A command resolves when it is durable: that says what was asked for, and not yet that
 * the service answers otherwise, which `watch` shows. Every call throws RefusedError for a definite no, and
 * UnavailableError when the outcome stayed open for `retryForMs`.
 *
 * @example
 * ```ts
 * const operator: Operator = createOperator({ url: 'http://127.0.0.1:8470' })
 * ```
 */
export interface Operator {
  /** Lists all transactions that match, fetched page by page. */
  list(filter?: ListFilter, options?: CallOptions): AsyncIterable<TransactionSummary>
  /** Lists one page. It may be short or empty and yet have a `cursor`, which leads to the next. */
  page(filter?: ListFilter, options?: CallOptions): Promise<TransactionPage>
  /** Reads a transaction. Throws SAGA_UNKNOWN_GID. */
  show(gid: string, options?: CallOptions): Promise<TransactionView>
  /** Yields the transaction as it is, then whenever it changes, and ends with its final state. Throws SAGA_UNKNOWN_GID. */
  watch(gid: string, options?: WatchOptions): AsyncIterable<TransactionView>
  /** Reads what the branches are sent. It may hold secrets, and needs the scope `payloads`. */
  request(gid: string, options?: CallOptions): Promise<TransactionRequestView>
  /** Says what would follow from a command, and changes nothing. */
  preview(gid: string, command: PreviewRequest, options?: CallOptions): Promise<PlanView>
  /** Makes all that waits due now. Throws SAGA_ALREADY_FINAL, SAGA_PAUSED. */
  retry(gid: string, options?: CommandOptions): Promise<TransactionView>
  /** Makes one call due now, and leaves the waits of the others alone. */
  retryOp(gid: string, op: OpName, options?: CommandOptions): Promise<TransactionView>
  /** Starts no further call of the transaction. Calls that are in flight end, and count. */
  pause(gid: string, options: PauseOptions): Promise<TransactionView>
  resume(gid: string, options?: CommandOptions): Promise<TransactionView>
  /** Undoes a transaction. Throws SAGA_ALREADY_FINAL, SAGA_NO_RETURN. */
  abort(gid: string, options: AbortCommandOptions): Promise<TransactionView>
  /** Ends a transaction as it is, and undoes nothing. */
  stop(gid: string, options: ReasonedOptions): Promise<TransactionView>
  /** Declares a call done without an answer. Throws SAGA_OP_DONE, SAGA_OP_NOT_DUE, SAGA_OP_BUSY, SAGA_OP_UNKNOWN. */
  skip(gid: string, op: OpName, options: SkipOptions): Promise<TransactionView>
  /** Changes the request of a call that has not succeeded. Throws as `skip` does, and for what a submit is refused. */
  edit(gid: string, op: OpName, options: EditOptions): Promise<TransactionView>
  /** Counts the transactions that wait, by what they wait for. */
  problems(options?: CallOptions): Promise<ProblemsView>
  services(options?: CallOptions): Promise<ServicesView>
  names(options?: CallOptions): Promise<NamesView>
  overview(options?: CallOptions): Promise<OverviewView>
  /** Lists the panels that this key may read: tables of what the server has beside transactions. */
  panels(options?: CallOptions): Promise<PanelsView>
  /** Reads a panel. Throws SAGA_UNKNOWN_PANEL, SAGA_FORBIDDEN. */
  panel(id: string, options?: CallOptions): Promise<PanelView>
  /** Gives one command to many transactions. */
  readonly bulk: Bulk
  /** Returns the time at the server, in milliseconds from the epoch, by its last answer. Waits and ages count from it. */
  now(): number
}

/**
 * Makes an operator's client of one server, or of several that share a store. It takes the options of `createClient`,
 * and throws a TypeError as that does.
 *
 * @example
 * ```ts
 * const operator = createOperator({ url: 'http://127.0.0.1:8470', apiKey: process.env.OPS_KEY ?? '' })
 * for await (const { gid } of operator.list({ problem: 'bank-a compensate 500' })) {
 *   await operator.retry(gid, { reason: 'bank-a is restarted' })
 * }
 * ```
 */
export function createOperator(options: ClientOptions): Operator {
  const clock = new ServerClock()
  const setup = createSetup({ answerBytesMax: ANSWER_BYTES_MAX, ...options }, (at) => clock.set(at))
  const { url, apiKey, headers = {} } = options
  const openLive = createLiveOpener({
    urls: checkUrls(url),
    fetch: setup.fetch,
    readApiKey: createKeyReader(apiKey, headers),
    headers,
  })
  return {
    list: (filter = {}, callOptions = {}) => listAll(setup, filter, callOptions),
    page: (filter = {}, callOptions = {}) => listPage(setup, filter, callOptions),
    show: (gid, callOptions = {}) => fetchTransaction(setup, gid, callOptions),
    watch: (gid, watchOptions = {}) => watch({ setup, openLive, gid }, watchOptions),
    request: (gid, callOptions = {}) =>
      look(setup, { path: `${transactionPath(gid)}/request`, property: 'ops', gid }, callOptions),
    preview: (gid, command, callOptions = {}) => {
      const asked = { path: `${transactionPath(gid)}/preview`, property: 'planId', gid }
      return lookByPost(setup, asked, toJson(command, gid), callOptions)
    },
    retry: (gid, given = {}) => giveCommand(setup, { gid, verb: 'retry' }, given),
    retryOp: (gid, op, given = {}) => giveCommand(setup, { gid, verb: 'retry', op }, given),
    pause: (gid, { until, ...given }) => giveCommand(setup, { gid, verb: 'pause', fields: { until } }, given),
    resume: (gid, given = {}) => giveCommand(setup, { gid, verb: 'resume' }, given),
    abort: (gid, given) => giveCommand(setup, { gid, verb: 'abort' }, given),
    stop: (gid, given) => giveCommand(setup, { gid, verb: 'stop' }, given),
    skip: (gid, op, { doneBy, answer, confirm, ...given }) =>
      giveCommand(setup, { gid, verb: 'skip', op, fields: { doneBy, answer, confirm } }, given),
    edit: (gid, op, given) => {
      const { signal, retryForMs, commandId, planId, reason, ...fields } = given
      return giveCommand(setup, { gid, verb: 'edit', op, fields }, given)
    },
    problems: (callOptions = {}) => look(setup, { path: '/v1/problems', property: 'items' }, callOptions),
    services: (callOptions = {}) => look(setup, { path: '/v1/services', property: 'items' }, callOptions),
    names: (callOptions = {}) => look(setup, { path: '/v1/names', property: 'items' }, callOptions),
    overview: (callOptions = {}) => look(setup, { path: '/v1/overview', property: 'nodes' }, callOptions),
    panels: (callOptions = {}) => look(setup, { path: '/v1/panels', property: 'items' }, callOptions),
    panel: (id, callOptions = {}) =>
      look(setup, { path: `/v1/panels/${encodeURIComponent(id)}`, property: 'rows' }, callOptions),
    bulk: createBulk(setup),
    now: () => clock.now(),
  }
}
