import type { ListQuery } from '@counterstep/core'
import type { EngineApi } from '@counterstep/engine'
import {
  GID_RULE,
  type Gid,
  InvalidRequestError,
  isGid,
  type SignalRequest,
  type SignalView,
  type SubmitRequest,
  type SubmitView,
  type TccBranchRequest,
  type TransactionView,
} from '@counterstep/protocol'
import { copyThroughJson } from './request-json.ts'

const LIST_LIMIT = 50

type Waiting = NonNullable<Parameters<EngineApi['submit']>[1]>
type Aborting = NonNullable<Parameters<EngineApi['abort']>[1]>

/**
 * Gives an app the engine in its own process. Its methods take the same values as the HTTP API, and throw a
 * CounterstepError with the same codes. No method tries again by itself: after SAGA_OUTCOME_UNKNOWN, submit the same
 * transaction with its gid once more.
 */
export interface Counterstep {
  /**
   * Stores a transaction and runs it here. Resolves when it is durable; with `waitMs`, when it is final or that time is
   * over. It takes a `saga()` of the SDK, too.
   */
  submit(
    transaction: SubmitRequest | { readonly request: SubmitRequest },
    options?: Waiting,
  ): Promise<SubmitView>
  /** Resolves to undefined if there is no such gid. */
  get(gid: string): Promise<TransactionView | undefined>
  /** Resolves to one page, newest first. Its `cursor` leads to the next page. */
  list(query?: Partial<ListQuery>): ReturnType<EngineApi['list']>
  /** Adds a branch to a prepared TCC, before it is tried. */
  registerBranch(gid: string, branch: TccBranchRequest): Promise<TransactionView>
  submitPrepared(gid: string, options?: Waiting): Promise<TransactionView>
  abort(gid: string, options?: Aborting): Promise<TransactionView>
  /**
   * Gives a saga a signal that one of its branches waits for. The same id with the same payload is the same signal,
   * however often it is sent.
   */
  signal(gid: string, name: string, signal: SignalRequest): Promise<SignalView>
  /** Calls at once the branches that wait for their next call. */
  retry(gid: string): Promise<TransactionView>
  /**
   * Ends the transaction as it is and undoes nothing. Operators use it after they have repaired the data by hand, and say
   * why: the reason is kept in the trail of the transaction.
   */
  stop(gid: string, options: { readonly reason: string }): Promise<TransactionView>
  health(): ReturnType<EngineApi['health']>
}

/** Makes these methods from an engine. Its host starts and closes the engine. */
export function toCounterstep(engine: EngineApi): Counterstep {
  return {
    async submit(transaction, options) {
      const request = isBuilt(transaction) ? transaction.request : transaction
      // The engine gives callers that wait for the same end the same object, and each may change its own.
      return { ...(await engine.submit(copyThroughJson(request), options)) }
    },
    get: async (gid) => engine.show(requireGid(gid)),
    list: async (query) => engine.list({ limit: LIST_LIMIT, ...query }),
    registerBranch: async (gid, branch) => engine.registerBranch(requireGid(gid), copyThroughJson(branch)),
    submitPrepared: async (gid, options) => engine.submitPrepared(requireGid(gid), options),
    abort: async (gid, options) => engine.abort(requireGid(gid), options),
    signal: async (gid, name, signal) => engine.signal(requireGid(gid), name, copyThroughJson(signal)),
    retry: async (gid) => engine.retry(requireGid(gid)),
    stop: async (gid, { reason }) => engine.stop(requireGid(gid), { by: { via: 'local' }, reason }),
    health: () => engine.health(),
  }
}

function isBuilt(transaction: object): transaction is { readonly request: SubmitRequest } {
  return 'request' in transaction
}

function requireGid(gid: string): Gid {
  if (isGid(gid)) return gid
  throw new InvalidRequestError([{ code: 'SAGA_GID_INVALID', path: 'gid', message: GID_RULE }])
}
