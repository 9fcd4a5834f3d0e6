import type { Kind, Status } from '@counterstep/protocol'
import type { Workflow } from './workflow/workflow.ts'

/**
 * The options of each call.
 *
 * @example
 * ```ts
 * await client.get(gid, { signal: AbortSignal.timeout(2_000) })
 * ```
 */
export interface CallOptions {
  /** Ends the call, which rejects with the signal's reason. A request that was sent may still be carried out. */
  readonly signal?: AbortSignal
  /** This value is used instead of the client's `retryForMs`. */
  readonly retryForMs?: number
}

/**
 * These are the options of a submit.
 *
 * @example
 * ```ts
 * await client.submit(transfer, { waitMs: 10_000 })
 * ```
 */
export interface SubmitOptions extends CallOptions {
  /**
   * The server answers when the transaction is final, or after this time. It is 0 to 60,000, and is sent in whole
   * seconds. By default there is no wait.
   */
  readonly waitMs?: number
}

/**
 * These are the options of an abort.
 *
 * @example
 * ```ts
 * await client.abort(gid, { reason: 'the customer has cancelled', waitMs: 5_000 })
 * ```
 */
export interface AbortOptions extends SubmitOptions {
  /** It is kept with the decision, and shown. It has at most 1,024 characters. */
  readonly reason?: string
}

/**
 * These are the options of a stop.
 *
 * @example
 * ```ts
 * await client.stop(gid, { reason: 'the books were corrected by hand' })
 * ```
 */
export interface StopOptions extends CallOptions {
  /** It is kept in the transaction's trail. It has at most 1,024 characters. */
  readonly reason: string
}

/**
 * These are the options of a signal.
 *
 * @example
 * ```ts
 * await client.signal(gid, approval, { by: 'kim' }, { id: 'click-8' })
 * ```
 */
export interface SignalOptions extends CallOptions {
  /**
   * It says which signals are the same one: a second one with this id changes nothing. It has 1 to 128 visible
   * characters. The default is a random UUID, the same for all attempts of the call: give one where you may call again,
   * since a wait for two signals would take a second one for another.
   */
  readonly id?: string
}

/**
 * These are the options of a wait.
 *
 * @example
 * ```ts
 * await client.wait(gid, { timeoutMs: 120_000 })
 * ```
 */
export interface WaitOptions {
  readonly signal?: AbortSignal
  /** The default is 60,000. */
  readonly timeoutMs?: number
}

/**
 * These are the options of a wait for a workflow. It throws a TypeError if another workflow was started under the gid.
 *
 * @example
 * ```ts
 * const { result } = await client.wait(gid, { workflow: order })
 * console.log(result?.payment)
 * ```
 */
export interface WorkflowWaitOptions<Result> extends WaitOptions {
  /** It tells the compiler the type of the `result`. */
  readonly workflow: Workflow<unknown, Result>
}

/**
 * Says which transactions to list. Instants are milliseconds from the epoch.
 *
 * @example
 * ```ts
 * const filter: ListFilter = { status: ['submitted', 'aborting'], tags: { region: 'eu' }, order: 'due' }
 * ```
 */
export interface ListFilter {
  readonly status?: Status | readonly Status[]
  readonly kind?: Kind
  /** Lists only transactions in which an op waits to be asked again, or with false only the others. */
  readonly retrying?: boolean
  /** Lists only transactions that a person should look at, or with false only the others. */
  readonly attention?: boolean
  /** Lists only this transaction, or, with a `*` behind it, those whose gid begins so. */
  readonly gid?: string
  readonly name?: string
  /** Lists only transactions that have all of these tags. */
  readonly tags?: Readonly<Record<string, string>>
  /** Lists only transactions that wait for this, for example `bank-a compensate 500`. */
  readonly problem?: string
  readonly paused?: true
  readonly byHand?: true
  readonly edited?: true
  /** This instant is included. */
  readonly createdFrom?: number
  /** This instant is not included. */
  readonly createdTo?: number
  /**
   * The default is `created`, the newest first. `due` and `-due` list unfinished transactions only: the one that is due
   * first at the top, or at the end.
   */
  readonly order?: 'created' | 'due' | '-due'
  /** Says how many transactions one page has, from 1 to 200. The default is 50. */
  readonly limit?: number
  /** The `cursor` of the page before. */
  readonly cursor?: string
}
