import type { PayloadValue, SagaSubmitRequest } from '@counterstep/protocol'
import { type AnyCall, writeCall } from './branch-call.ts'
import { appendPart, type BranchOptions, type Chain, type Part, type WaitOptions } from './part.ts'
import { refToAnswer, refToInput, writeTemplate } from './ref.ts'
import { type SignalWait, type Timer, writeSignalWait, writeTimer } from './saga-waits.ts'
import type { Signal } from './signal.ts'

/**
 * The settings of a whole saga: `deadlineMs` from accept (at most 30 days), `delayMs` before the first call,
 * `timeoutMs` and `retry` as defaults of its branches, `headers` for every call, `input` for what its branches refer to.
 * A saga is found by its `name` and `tags`. Every reader sees them, so they are no place for a secret.
 *
 * @example
 * ```ts
 * const settings: SagaSettings = {
 *   gid: `transfer-${transferId}`,
 *   name: 'transfer',
 *   tags: { region: 'eu' },
 *   deadlineMs: 60_000,
 * }
 * ```
 */
export type SagaSettings = Omit<SagaSubmitRequest, 'kind' | 'branches'>

export interface BuiltSaga {
  readonly gid: string
  /** The request that is sent. */
  readonly request: SagaSubmitRequest & { readonly gid: string }
}

export interface Place<Named = readonly string[] | undefined> {
  /** Which earlier branches must have succeeded. The default is the parts before it; [] starts at once. */
  readonly after?: Named
}

interface AnyEndpoint {
  readonly url: string
}

type Settings = SagaSettings & { readonly gid: string }
type Refs = Readonly<Record<string, unknown>>
type Maker<Value> = (refs: Refs) => Value
type Made<Value> = Value | Maker<Value>
/** A request alone, or options and what makes the rest of it. */
type Given<Value> = [made?: Made<Value & Place>] | [options: Place, make: Maker<Value>]

/** Makes a saga of its branches, with the methods that add to it. */
export function growSaga(settings: Settings, chain: Chain): BuiltSaga {
  const grow = (next: Chain) => growSaga(settings, next)
  return {
    ...buildBoth(settings, chain, growSaga),
    branch: (id: string, first: BranchOptions | AnyEndpoint, ...given: Given<AnyCall>) =>
      grow(
        'action' in first
          ? appendOptions(chain, id, first)
          : appendCall(chain, id, first, read(chain, given)),
      ),
    add: (made: Made<Part>) =>
      grow(appendPart(chain, typeof made === 'function' ? made(makeRefs(chain)) : made)),
    pivot: (id: string, endpoint: AnyEndpoint, ...given: Given<AnyCall>) => {
      const call = { ...read(chain, given), role: 'pivot', after: findLeaves(chain) }
      return growSure(settings, appendCall(chain, id, endpoint, call))
    },
  } as BuiltSaga
}

/** Makes a saga that is behind its pivot. */
function growSure(settings: Settings, chain: Chain): BuiltSaga {
  return {
    ...buildBoth(settings, chain, growSure),
    retriable: (id: string, endpoint: AnyEndpoint, ...given: Given<AnyCall>) =>
      growSure(settings, appendCall(chain, id, endpoint, { ...read(chain, given), role: 'retriable' })),
  } as BuiltSaga
}

/** Builds what both have. */
function buildBoth(settings: Settings, chain: Chain, grow: typeof growSaga) {
  return {
    gid: settings.gid,
    request: { ...settings, branches: chain.branches },
    signal: (id: string, { name }: Signal<unknown>, { after, ...wait }: SignalWait & Place = {}) =>
      grow(settings, appendOptions(chain, id, place(writeSignalWait(name, wait), { after }))),
    timer: (id: string, ...given: Given<Timer>) => {
      const timer = read(chain, given)
      return grow(settings, appendOptions(chain, id, place(writeTimer(timer), timer)))
    },
    output: (write: Maker<unknown>) => {
      // The server reads every output as a template.
      const output = writeTemplate(write(makeRefs(chain))) as PayloadValue
      return grow({ ...settings, output }, chain)
    },
  }
}

function appendCall(
  chain: Chain,
  id: string,
  endpoint: AnyEndpoint,
  { after, ...call }: AnyCall & Place & { readonly role?: string },
): Chain {
  return appendOptions(chain, id, place(writeCall(endpoint, call, refToAnswer(id)), { after }))
}

function appendOptions(chain: Chain, id: string, options: BranchOptions | WaitOptions): Chain {
  return appendPart(chain, { ids: [id], shape: { type: 'branch', options } })
}

/** An `after` that is undefined is left out. */
function place<Options extends object>(
  options: Options,
  { after }: Place,
): Options & Place<readonly string[]> {
  return after === undefined ? options : { ...options, after }
}

function read<Value extends object>(chain: Chain, [first = {} as Value, make]: Given<Value>): Value & Place {
  if (typeof first === 'function') return first(makeRefs(chain))
  return make === undefined ? (first as Value) : { ...first, ...make(makeRefs(chain)) }
}

/** A reference to each branch; the types leave only those that may be used. A branch cannot hide the input. */
function makeRefs({ branches }: Chain): Refs {
  const answers = branches.map(({ id = '' }) => [id, refToAnswer(id)] as const)
  return Object.fromEntries([...answers, ['input', refToInput()]])
}

/** Lists the branches after which none stands. All others come before one of them. */
function findLeaves({ branches }: Chain): readonly string[] {
  const followed = new Set(branches.flatMap(({ after = [] }) => after))
  return branches.flatMap(({ id = '' }) => (followed.has(id) ? [] : [id]))
}
