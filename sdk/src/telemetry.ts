import { context, defaultTextMapGetter, propagation, SpanKind, trace } from '@opentelemetry/api'
import { listHeaders } from './branch/header-values.ts'
import { setTraceJoiner } from './telemetry/trace-joiner.ts'

/**
 * Joins this SDK to the traces of OpenTelemetry. Call it once, where the process starts. From then on
 *
 * - a handler of this SDK has a span `branch call` within the trace of its call, if no instrumentation of the web framework has
 *   one there already. So the spans of your code and of your database driver stand below the orchestrator's span of the call;
 * - what the barrier has decided is an event `counterstep.barrier` of the span in force: the handler has run, the call was a
 *   duplicate, an undo came without its action, or an action came after its undo;
 * - a client of this SDK sends the trace in force with its requests, and the transaction goes on in it.
 *
 * It needs `@opentelemetry/api`, and does nothing until a provider is registered there.
 *
 * @example
 * ```ts
 * import { NodeSDK } from '@opentelemetry/sdk-node'
 * import { joinTraces } from '@counterstep/sdk/telemetry'
 *
 * new NodeSDK({ serviceName: 'bank' }).start()
 * joinTraces()
 * ```
 */
export function joinTraces(): void {
  setTraceJoiner({
    within(headers, work) {
      const active = context.active()
      if (trace.getSpan(active) !== undefined) return work()
      const carrier = Object.fromEntries(listHeaders(headers))
      const caller = propagation.extract(active, carrier, defaultTextMapGetter)
      const tracer = trace.getTracer('counterstep')
      return tracer.startActiveSpan('branch call', { kind: SpanKind.SERVER }, caller, async (span) => {
        try {
          return await work()
        } finally {
          span.end()
        }
      })
    },
    noteDecision({ gid, branchId, op }, decision) {
      trace.getActiveSpan()?.addEvent('counterstep.barrier', {
        'counterstep.gid': gid,
        'counterstep.branch': branchId,
        'counterstep.op': op,
        'counterstep.decision': decision,
      })
    },
    buildHeaders() {
      const carrier: Record<string, string> = {}
      propagation.inject(context.active(), carrier)
      // Whatever else a propagator writes, such as baggage, is not for the orchestrator.
      const { traceparent, tracestate } = carrier
      if (traceparent === undefined) return {}
      return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
    },
  })
}
