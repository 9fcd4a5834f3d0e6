import type { PayloadValue, RetryPolicy } from '@counterstep/protocol'
import type { BranchCall, SureCall } from './branch-call.ts'
import type { Endpoint } from './endpoint.ts'
import { newGid } from './gid.ts'
import type { BranchOptions, Part } from './part.ts'
import { type BuiltSaga, growSaga, type Place, type SagaSettings } from './saga-builder.ts'
import type {
  AllRefs,
  PlainGraph,
  Refs,
  SagaGraph,
  Through,
  Visible,
  WithAnswer,
  WithPart,
} from './saga-graph.ts'
import type { SignalWait, Timer } from './saga-waits.ts'
import type { Signal } from './signal.ts'

interface CallSettings<Named> extends Place<Named> {
  readonly timeoutMs?: number
  readonly retry?: Partial<RetryPolicy>
}

interface SureSettings<Named> extends Place<Named> {
  readonly timeoutMs?: number
  readonly retry?: Partial<Omit<RetryPolicy, 'limit'>> & { readonly limit?: never }
}

/** The payload of a signal may be missing if the saga goes on without it. */
type SignalAnswer<Payload, OnTimeout> = 'continue' extends OnTimeout ? Payload | undefined : Payload

/**
 * One transaction that has not been submitted yet. An immutable value: each method returns a new one with the same gid.
 * `Graph` says which answers the next branch may refer to, and comes from the branches.
 *
 * @example
 * ```ts
 * const empty: Saga<never> = saga()
 * const transfer: Saga<'debit'> = empty.branch('debit', { action: 'http://bank-a/debit' })
 * ```
 */
export interface Saga<Ids extends string = string, Graph extends SagaGraph = PlainGraph> extends BuiltSaga {
  /**
   * Adds a branch behind the last part, or after the branches that it names. It calls the URLs of its options, or an
   * {@link endpoint}. A callback gets references to the answers of the branches that come before it, and to the `input`.
   * Throws SAGA_BRANCH_ID_DUPLICATE and SAGA_AFTER_UNKNOWN.
   */
  branch<const Id extends string, const Named extends readonly Ids[] | undefined = undefined>(
    id: Id,
    options: Omit<BranchOptions<Ids>, 'after'> & Place<Named>,
  ): Saga<Ids | Id, Through<Graph, Id, Visible<Graph, Named>>>
  branch<const Id extends string, Answer>(
    id: Id,
    endpoint: Endpoint<void, Answer, unknown>,
  ): Saga<Ids | Id, WithAnswer<Graph, Id, Graph['visible'], Answer>>
  branch<
    const Id extends string,
    Request,
    Answer,
    UndoRequest = void,
    const Named extends readonly Ids[] | undefined = undefined,
  >(
    id: Id,
    endpoint: Endpoint<Request, Answer, unknown>,
    options: CallSettings<Named>,
    call: (refs: Refs<Graph, Visible<Graph, Named>>) => BranchCall<Request, Answer, UndoRequest>,
  ): Saga<Ids | Id, WithAnswer<Graph, Id, Visible<Graph, Named>, Answer>>
  branch<
    const Id extends string,
    Request,
    Answer,
    UndoRequest = void,
    const Named extends readonly Ids[] | undefined = undefined,
  >(
    id: Id,
    endpoint: Endpoint<Request, Answer, unknown>,
    call:
      | ((refs: Refs<Graph, Graph['visible']>) => BranchCall<Request, Answer, UndoRequest>)
      | (BranchCall<Request, Answer, UndoRequest> & Place<Named>),
  ): Saga<Ids | Id, WithAnswer<Graph, Id, Visible<Graph, Named>, Answer>>

  /**
   * Adds a part behind the last one. A callback gives its branches references to what stands before it, and not to each
   * other. Throws like `branch`.
   */
  add<PartIds extends string, Answers>(
    part: Part<PartIds, Answers> | ((refs: Refs<Graph, Graph['visible']>) => Part<PartIds, Answers>),
  ): Saga<Ids | PartIds, WithPart<Graph, PartIds, Answers>>

  /**
   * Waits for a signal. What it carries is the answer; behind `onTimeout: 'continue'` a reference to it needs an
   * {@link orElse}.
   */
  signal<
    const Id extends string,
    Payload,
    const Named extends readonly Ids[] | undefined = undefined,
    const OnTimeout extends 'abort' | 'continue' = 'abort',
  >(
    id: Id,
    signal: Signal<Payload>,
    options?: SignalWait & Place<Named> & { readonly onTimeout?: OnTimeout },
  ): Saga<Ids | Id, WithAnswer<Graph, Id, Visible<Graph, Named>, SignalAnswer<Payload, OnTimeout>>>

  /** Waits for a time (`ms`) or an instant (`until`). It has no answer. */
  timer<const Id extends string, const Named extends readonly Ids[] | undefined = undefined>(
    id: Id,
    options: Place<Named>,
    timer: (refs: Refs<Graph, Visible<Graph, Named>>) => Timer,
  ): Saga<Ids | Id, Through<Graph, Id, Visible<Graph, Named>>>
  timer<const Id extends string, const Named extends readonly Ids[] | undefined = undefined>(
    id: Id,
    timer: ((refs: Refs<Graph, Graph['visible']>) => Timer) | (Timer & Place<Named>),
  ): Saga<Ids | Id, Through<Graph, Id, Visible<Graph, Named>>>

  /**
   * Adds the point of no return, behind all branches: once it is called only its own refusal undoes the saga. What comes
   * after it cannot fail.
   */
  pivot<const Id extends string, Answer>(
    id: Id,
    endpoint: Endpoint<void, Answer, unknown>,
  ): SureSaga<Id, WithAnswer<Graph, Id, keyof Graph['answers'], Answer>>
  pivot<const Id extends string, Request, Answer>(
    id: Id,
    endpoint: Endpoint<Request, Answer, unknown>,
    call: ((refs: AllRefs<Graph>) => SureCall<Request>) | SureCall<Request>,
  ): SureSaga<Id, WithAnswer<Graph, Id, keyof Graph['answers'], Answer>>

  /** Says what a succeeded saga shows as its `output`. A value that it lacks is null. */
  output(write: (refs: AllRefs<Graph>) => PayloadValue): Saga<Ids, Graph>
}

/**
 * A saga behind its point of no return, with the ids of the branches from there on. It only goes forward, so it takes
 * only branches that cannot refuse, and waits that end by themselves.
 *
 * @example
 * ```ts
 * const pay = endpoint<void, { paymentId: string }, 'NO_FUNDS'>('bank:/payments')
 * const mail = endpoint<{ payment: string }, void>('mail:/receipts')
 * const order: SureSaga = saga()
 *   .pivot('pay', pay)
 *   .retriable('mail', mail, ({ pay }) => ({ payload: { payment: pay.paymentId } }))
 * ```
 */
export interface SureSaga<Ids extends string = string, Graph extends SagaGraph = PlainGraph>
  extends BuiltSaga {
  /** Adds a branch that is called until it succeeds. Its endpoint has no `Failure`. */
  retriable<const Id extends string, Answer>(
    id: Id,
    endpoint: Endpoint<void, Answer>,
  ): SureSaga<Ids | Id, WithAnswer<Graph, Id, Graph['visible'], Answer>>
  retriable<
    const Id extends string,
    Request,
    Answer,
    const Named extends readonly [Ids, ...Ids[]] | undefined = undefined,
  >(
    id: Id,
    endpoint: Endpoint<Request, Answer>,
    options: SureSettings<Named>,
    call: (refs: Refs<Graph, Visible<Graph, Named>>) => SureCall<Request>,
  ): SureSaga<Ids | Id, WithAnswer<Graph, Id, Visible<Graph, Named>, Answer>>
  retriable<
    const Id extends string,
    Request,
    Answer,
    const Named extends readonly [Ids, ...Ids[]] | undefined = undefined,
  >(
    id: Id,
    endpoint: Endpoint<Request, Answer>,
    call: ((refs: Refs<Graph, Graph['visible']>) => SureCall<Request>) | (SureCall<Request> & Place<Named>),
  ): SureSaga<Ids | Id, WithAnswer<Graph, Id, Visible<Graph, Named>, Answer>>

  /** Waits for a signal, and goes on without it when its time is over. */
  signal<
    const Id extends string,
    Payload,
    const Named extends readonly [Ids, ...Ids[]] | undefined = undefined,
  >(
    id: Id,
    signal: Signal<Payload>,
    options: SignalWait & Place<Named> & { readonly onTimeout: 'continue' },
  ): SureSaga<Ids | Id, WithAnswer<Graph, Id, Visible<Graph, Named>, Payload | undefined>>

  /** Waits for a time (`ms`) or an instant (`until`). It has no answer. */
  timer<const Id extends string, const Named extends readonly [Ids, ...Ids[]] | undefined = undefined>(
    id: Id,
    options: Place<Named>,
    timer: (refs: Refs<Graph, Visible<Graph, Named>>) => Timer,
  ): SureSaga<Ids | Id, Through<Graph, Id, Visible<Graph, Named>>>
  timer<const Id extends string, const Named extends readonly [Ids, ...Ids[]] | undefined = undefined>(
    id: Id,
    timer: ((refs: Refs<Graph, Graph['visible']>) => Timer) | (Timer & Place<Named>),
  ): SureSaga<Ids | Id, Through<Graph, Id, Visible<Graph, Named>>>

  /** Says what a succeeded saga shows as its `output`. A value that it lacks is null. */
  output(write: (refs: AllRefs<Graph>) => PayloadValue): SureSaga<Ids, Graph>
}

interface GraphOf<Input> extends SagaGraph {
  readonly input: Input
  readonly answers: PlainGraph['answers']
  readonly seen: PlainGraph['seen']
  readonly visible: never
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
export function saga<Input extends PayloadValue>(
  settings: SagaSettings & { readonly input: Input },
): Saga<never, GraphOf<Input>>
export function saga(settings?: SagaSettings): Saga<never>
export function saga(settings: SagaSettings = {}): Saga<never> {
  const whole = { ...settings, gid: settings.gid ?? newGid() }
  // The types above say what each method takes, and the builder takes what any of them does.
  return growSaga(whole, { branches: [], lastIds: [] }) as unknown as Saga<never>
}
