import type {
  PayloadValue,
  Reference,
  RetryPolicy,
  SagaBranchRequest,
  UrlTemplate,
} from '@counterstep/protocol'
import type { Endpoint } from './endpoint.ts'
import { hasRef, type Ref, type RefValue, readRef, writeTemplate } from './ref.ts'

/** A place that wants a `Wanted` takes it, a reference to it, or JSON with references inside. */
export type Filled<Wanted> =
  | RefValue<Exclude<Wanted, undefined>, null>
  | (Wanted extends object ? { readonly [Key in keyof Wanted]: Filled<Wanted[Key]> } : Wanted)

/**
 * The same in a compensation, where a value may be unknown. Such a reference fits only where null may stand, or with an
 * `orElse`.
 */
export type FilledUndo<Wanted> =
  | RefValue<Exclude<Wanted, undefined> | (null extends Wanted ? undefined : never), Extract<Wanted, null>>
  | (Wanted extends object ? { readonly [Key in keyof Wanted]: FilledUndo<Wanted[Key]> } : Wanted)

type Plain = string | number | boolean

/** A payload may be left out where the endpoint takes none. */
type Payload<Request, Content> = undefined extends Request
  ? { readonly payload?: Content }
  : { readonly payload: Content }

interface Places {
  /** The value of each place `{name}` of the URL. */
  readonly at?: Readonly<Record<string, Plain | RefValue<Plain>>>
  readonly headers?: Readonly<Record<string, string | RefValue<Plain>>>
}

/** The request of a pivot or a retriable: nothing undoes it, and it is asked until its answer is definite. */
export type SureCall<Request> = Payload<Request, Filled<Request>> &
  Places & {
    readonly timeoutMs?: number
    readonly retry?: Partial<Omit<RetryPolicy, 'limit'>> & { readonly limit?: never }
    readonly undo?: never
  }

/** The request of a branch, and how it is undone. */
export type BranchCall<Request, Answer, UndoRequest> = Payload<Request, Filled<Request>> &
  Places & {
    readonly timeoutMs?: number
    readonly retry?: Partial<RetryPolicy>
    /** It gets a reference to what the action answered. */
    readonly undo?: (own: Ref<Answer>) => UndoCall<UndoRequest>
  }

/** The request of a compensation. A place of its URL needs a value that is always known. */
export type UndoCall<Request> = {
  readonly to: Endpoint<Request, unknown>
  readonly at?: Readonly<Record<string, Plain | RefValue<Plain, never>>>
  readonly headers?: Readonly<Record<string, string | RefValue<Plain | null | undefined>>>
} & Payload<NoInfer<Request>, FilledUndo<NoInfer<Request>>>

/** The parts of a call as they are read when this runs. */
export interface AnyCall {
  readonly payload?: unknown
  readonly at?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, unknown>>
  readonly timeoutMs?: number
  readonly retry?: Partial<RetryPolicy>
  readonly undo?: (own: Ref<unknown>) => AnyUndo
}

interface AnyUndo extends Omit<AnyCall, 'undo' | 'timeoutMs' | 'retry'> {
  readonly to: { readonly url: string }
}

/** Writes a branch as the wire has it. A field that it does not know goes along, so that the server can refuse it. */
export function writeCall(
  { url }: { readonly url: string },
  { payload, at, headers, undo, ...rest }: AnyCall,
  own: Ref<unknown>,
): Omit<SagaBranchRequest, 'id' | 'after'> {
  return {
    action: writeUrl(url, at),
    ...(undo === undefined ? {} : { compensation: writeUndo(undo(own)) }),
    ...writeContent(payload),
    ...writeHeaders(headers),
    ...rest,
  }
}

/** An object, so that it gets a content of its own, and not that of the action. */
function writeUndo({ to, payload, at, headers, ...rest }: AnyUndo): SagaBranchRequest['compensation'] & {} {
  const url = writeUrl(to.url, at)
  return {
    ...(typeof url === 'string' ? { url } : url),
    ...writeContent(payload),
    ...writeHeaders(headers),
    ...rest,
  }
}

function writeContent(payload: unknown): Pick<SagaBranchRequest, 'payload' | 'template'> {
  if (payload === undefined) return {}
  // The server checks what arrives.
  return hasRef(payload)
    ? { template: writeTemplate(payload) as PayloadValue }
    : { payload: payload as PayloadValue }
}

function writeHeaders(headers: AnyCall['headers']): Pick<SagaBranchRequest, 'headers'> {
  if (headers === undefined) return {}
  const written = Object.entries(headers).map(([name, value]) => [name, readRef(value) ?? value])
  return { headers: Object.fromEntries(written) as Record<string, string | Reference> }
}

/**
 * A value that is known already is put in here, and the others go to the server, which checks that each place has one.
 * The server would take a value that is empty or a dot for one that changes the path, and so it refuses it.
 */
function writeUrl(url: string, at: AnyCall['at'] = {}): string | UrlTemplate {
  let filled = url
  const open: Record<string, Reference> = {}
  for (const [name, value] of Object.entries(at)) {
    const reference = readRef(value)
    const place = `{${name}}`
    if (reference !== undefined) open[name] = reference
    else if (!filled.includes(place) || isNoSegment(value)) open[name] = value as Reference
    else filled = filled.replaceAll(place, () => encodeURIComponent(String(value)))
  }
  return /[{}]/.test(filled) || Object.keys(open).length > 0 ? { url: filled, with: open } : filled
}

function isNoSegment(value: unknown): boolean {
  return /^\.{0,2}$/.test(String(value))
}
