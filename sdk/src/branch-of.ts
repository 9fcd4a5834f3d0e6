import type { JsonValue } from '@counterstep/protocol'
import { type BranchOptions, branch, type Detached, type NoProperties, type Part } from './part.ts'

/**
 * Makes branches of one service, whose payload has a type: what {@link branchOf} returns.
 *
 * @example
 * ```ts
 * const debit: TypedBranch<Payment> = branchOf<Payment>({ action: 'http://bank-a/debit' })
 * ```
 */
export type TypedBranch<Payload> = <
  const Id extends string,
  const After extends readonly string[] | undefined = undefined,
>(
  id: Id,
  payload: Payload,
  options?: Partial<Omit<BranchOptions, 'payload' | 'body' | 'after'>> & { readonly after?: After },
) => Part<Id, After extends undefined ? NoProperties : Detached>

/**
 * Makes the branches of one service with the type of the payload that the service takes. The service exports this type
 * beside its handler (`Branch<Payment>`), so that the compiler reports a wrong payload. `Payload` must be JSON: a value
 * that JSON cannot hold is refused at submit (`SAGA_INVALID`, `SAGA_NUMBER_NOT_EXACT`).
 *
 * @example
 * ```ts
 * interface Payment {
 *   readonly account: string
 *   readonly cents: number
 * }
 * const debit = branchOf<Payment>({ action: 'http://bank-a/debit', compensation: 'http://bank-a/debit/undo' })
 * const credit = branchOf<Payment>({ action: 'http://bank-b/credit', compensation: 'http://bank-b/credit/undo' })
 *
 * const transfer = saga()
 *   .add(debit('debit', { account: 'alice', cents: 1250 }))
 *   .add(credit('credit', { account: 'bob', cents: 1250 }, { timeoutMs: 5_000 }))
 * ```
 */
export function branchOf<Payload>(service: Omit<BranchOptions, 'payload' | 'body'>): TypedBranch<Payload> {
  // Any type may stand here; the server checks what arrives.
  return (id, payload, options = {}) => branch(id, { ...service, ...options, payload: payload as JsonValue })
}
