import type { SagaSubmitRequest } from '@counterstep/protocol'
import { newGid } from './gid.ts'
import { appendPart, type BranchOptions, branch, type Chain, type Part } from './part.ts'

/**
 * The settings of a whole saga: `deadlineMs` from accept (at most 30 days), `delayMs` before the first call,
 * `timeoutMs` and `retry` as defaults of its branches, `headers` for every call.
 *
 * @example
 * ```ts
 * const settings: SagaSettings = { gid: `transfer-${transferId}`, deadlineMs: 60_000 }
 * ```
 */
export type SagaSettings = Omit<SagaSubmitRequest, 'kind' | 'branches'>

/**
 * One transaction that has not been submitted yet. An immutable value: each method returns a new one with the same gid.
 *
 * @example
 * ```ts
 * const empty: Saga<never> = saga()
 * const transfer: Saga<'debit'> = empty.branch('debit', { action: 'http://bank-a/debit' })
 * ```
 */
export interface Saga<Ids extends string = string> {
  readonly gid: string
  /** The request that is sent. */
  readonly request: SagaSubmitRequest & { readonly gid: string }
  /**
   * Adds a branch behind the last part, or after the branches that it names. Throws SAGA_BRANCH_ID_DUPLICATE and
   * SAGA_AFTER_UNKNOWN.
   */
  branch<const Id extends string>(id: Id, options: BranchOptions<Ids>): Saga<Ids | Id>
  /** Adds a part behind the last one. Throws like `branch`. */
  add<PartIds extends string>(part: Part<PartIds>): Saga<Ids | PartIds>
}

/**
 * Starts a saga. **One value is one transaction**: its gid is made here. So it is safe to submit the value again after
 * an error, and a value that is submitted twice runs once. Make a new one for the next transfer.
 *
 * @example
 * ```ts
 * const transfer = saga({ deadlineMs: 60_000 })
 *   .branch('debit', {
 *     action: 'http://bank-a/debit',
 *     compensation: 'http://bank-a/debit/undo',
 *     payload: { account: 'alice', cents: 1250 },
 *   })
 *   .branch('credit', {
 *     action: 'http://bank-b/credit',
 *     compensation: 'http://bank-b/credit/undo',
 *     payload: { account: 'bob', cents: 1250 },
 *   })
 * ```
 */
export function saga(settings: SagaSettings = {}): Saga<never> {
  return appendTo({ ...settings, gid: settings.gid ?? newGid() }, { branches: [], lastIds: [] })
}

function appendTo<Ids extends string>(
  settings: SagaSettings & { readonly gid: string },
  chain: Chain,
): Saga<Ids> {
  return {
    gid: settings.gid,
    request: { ...settings, branches: chain.branches },
    branch: (id, options) => appendTo(settings, appendPart(chain, branch(id, options))),
    add: (part) => appendTo(settings, appendPart(chain, part)),
  }
}
