import type { SagaBranchRequest, SagaWaitRequest } from '@counterstep/protocol'
import { type AnyCall, type BranchCall, writeCall } from './branch-call.ts'
import type { Endpoint } from './endpoint.ts'
import { CounterstepError } from './errors.ts'
import { refToAnswer } from './ref.ts'

/**
 * The calls of a branch. `action` and `compensation` are http(s) URLs, called with POST; `timeoutMs` bounds one call
 * (default 10,000); `payload` is a JSON value of at most 256 KiB, `body` a text sent byte for byte instead.
 *
 * @example
 * ```ts
 * const debit: BranchOptions = {
 *   action: 'http://bank-a/debit',
 *   compensation: 'http://bank-a/debit/undo',
 *   payload: { account: 'alice', cents: 1250 },
 * }
 * ```
 */
export interface BranchOptions<EarlierIds extends string = string>
  extends Omit<SagaBranchRequest, 'id' | 'after'> {
  /**
   * These earlier branches must have succeeded. The default is the part before this branch. With [] the branch starts
   * at once.
   */
  readonly after?: readonly EarlierIds[]
}

/** A branch that waits, and what it comes after. */
export type WaitOptions = Omit<SagaWaitRequest, 'id'>

declare const ANSWERS: unique symbol
declare const DETACHED: unique symbol

/** Marks a part in which a branch names itself what it comes after. */
export interface Detached {
  readonly [DETACHED]: true
}

/** The type without any property, such as that of the answers of a part whose branches call no endpoint. */
// biome-ignore lint/complexity/noBannedTypes: an interface without members is refused as well, and no other type means this.
export type NoProperties = {}

/**
 * This is a piece of a saga: one branch, or several in an order. It is a plain value. Make it with {@link branch},
 * {@link serial} or {@link parallel}. `Answers` has the answers of its branches that call an endpoint.
 *
 * @example
 * ```ts
 * const travel: Part<'hotel' | 'flight'> = parallel(branch('hotel', hotel), branch('flight', flight))
 * ```
 */
export interface Part<Ids extends string = string, Answers = NoProperties> {
  readonly ids: readonly Ids[]
  readonly shape:
    | { readonly type: 'branch'; readonly options: BranchOptions | WaitOptions }
    | { readonly type: 'serial' | 'parallel'; readonly parts: readonly Part[] }
  readonly [ANSWERS]?: Answers
}

type PartOf<Parts extends readonly Part[]> = Part<
  Parts[number]['ids'][number],
  { readonly [Key in keyof Joined<Parts[number]>]: Joined<Parts[number]>[Key] }
>

/** Joins the answers of several parts. */
type Joined<Each> = (Each extends Part<string, infer Answers> ? (answers: Answers) => void : never) extends (
  answers: infer All,
) => void
  ? All
  : never

/**
 * Makes one branch, to be put into {@link serial} or {@link parallel}. It calls the URLs of its options, or an {@link
 * endpoint}; what it may refer to, `.add((refs) => …)` gives it.
 *
 * @example
 * ```ts
 * branch('hotel', { action: 'http://hotel/book', compensation: 'http://hotel/cancel', payload: { nights: 2 } })
 * ```
 */
export function branch<
  const Id extends string,
  const After extends readonly string[] | undefined = undefined,
>(
  id: Id,
  options: Omit<BranchOptions, 'after'> & { readonly after?: After },
): Part<Id, After extends undefined ? NoProperties : Detached>
export function branch<const Id extends string, Answer>(
  id: Id,
  endpoint: Endpoint<void, Answer, unknown>,
): Part<Id, Readonly<Record<Id, Answer>>>
export function branch<const Id extends string, Request, Answer, UndoRequest = void>(
  id: Id,
  endpoint: Endpoint<Request, Answer, unknown>,
  call: BranchCall<Request, Answer, UndoRequest>,
): Part<Id, Readonly<Record<Id, Answer>>>
export function branch(id: string, first: BranchOptions | { readonly url: string }, call?: AnyCall): Part {
  const options = 'action' in first ? first : writeCall(first, call ?? {}, refToAnswer(id))
  return { ids: [id], shape: { type: 'branch', options } }
}

/**
 * Makes a part whose parts run one after the other.
 *
 * @example
 * ```ts
 * serial(branch('reserve', reserve), parallel(branch('hotel', hotel), branch('flight', flight)))
 * ```
 */
export function serial<const Parts extends readonly Part[]>(...parts: Parts): PartOf<Parts> {
  return compose('serial', parts)
}

/**
 * Makes a part whose parts run at the same time; the next part waits for all of them.
 *
 * @example
 * ```ts
 * saga().add(parallel(branch('hotel', hotel), branch('flight', flight))).branch('pay', pay)
 * ```
 */
export function parallel<const Parts extends readonly Part[]>(...parts: Parts): PartOf<Parts> {
  return compose('parallel', parts)
}

function compose<const Parts extends readonly Part[]>(
  type: 'serial' | 'parallel',
  parts: Parts,
): PartOf<Parts> {
  return { ids: parts.flatMap((part) => part.ids), shape: { type, parts } }
}

/** Branches in order, and the ids of the last ones, which the next part has to wait for. */
export interface Chain {
  readonly branches: readonly (SagaBranchRequest | SagaWaitRequest)[]
  readonly lastIds: readonly string[]
}

/** Puts a part behind a chain. An `after` can name only earlier branches, so there is no cycle. */
export function appendPart(chain: Chain, part: Part): Chain {
  const { shape } = part
  switch (shape.type) {
    case 'branch':
      return appendBranch(chain, part.ids[0] ?? '', shape.options)
    case 'serial':
      return shape.parts.reduce(appendPart, chain)
    case 'parallel': {
      const lastIds: string[] = []
      let { branches } = chain
      for (const each of shape.parts) {
        const grown = appendPart({ branches, lastIds: chain.lastIds }, each)
        branches = grown.branches
        lastIds.push(...grown.lastIds)
      }
      return { branches, lastIds: shape.parts.length === 0 ? chain.lastIds : [...new Set(lastIds)] }
    }
  }
}

function appendBranch({ branches, lastIds }: Chain, id: string, options: BranchOptions | WaitOptions): Chain {
  const earlier = new Set(branches.map((each) => each.id))
  if (earlier.has(id)) throw refusal('SAGA_BRANCH_ID_DUPLICATE', `there is already a branch ${id}`)
  const after = options.after ?? lastIds
  const unknown = after.find((each) => !earlier.has(each))
  if (unknown !== undefined) {
    throw refusal('SAGA_AFTER_UNKNOWN', `${id} is after ${unknown}, which does not stand before it`)
  }
  return { branches: [...branches, { ...options, id, after }], lastIds: [id] }
}

function refusal(code: 'SAGA_BRANCH_ID_DUPLICATE' | 'SAGA_AFTER_UNKNOWN', message: string): CounterstepError {
  return new CounterstepError(code, message, { meaning: 'failure' })
}
