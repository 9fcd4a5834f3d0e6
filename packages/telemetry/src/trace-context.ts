import type { TraceContext } from '@counterstep/core'
import {
  type Context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
} from '@opentelemetry/api'

/** Returns a stored place in a trace as OpenTelemetry has it. */
export function toSpanContext({ parent, state }: TraceContext): SpanContext {
  const [, traceId = '', spanId = '', flags = '00'] = parent.split('-')
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(state === undefined ? {} : { traceState: createTraceState(state) }),
  }
}

export function toContext(stored: TraceContext | undefined): Context {
  return stored === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, toSpanContext(stored))
}

/** Returns the place in a trace to be stored or sent, or undefined where no provider has given the span an id. */
export function toTraceContext(spanContext: SpanContext): TraceContext | undefined {
  if (!isSpanContextValid(spanContext)) return undefined
  const { traceId, spanId, traceFlags, traceState } = spanContext
  const state = traceState?.serialize() ?? ''
  const parent = `00-${traceId}-${spanId}-0${traceFlags & 3}`
  return state === '' ? { parent } : { parent, state }
}
