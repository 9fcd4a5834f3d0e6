import { nameSpan, type ReceivedSpan } from './otlp-receiver.ts'

/** The id of the span that a test's caller has in its trace. */
export const CALLER = 'b7ad6b7169203331'

/** Shows spans as a tree: each below its parent, in the order of their starts. */
export function toTree(spans: readonly ReceivedSpan[], parentId = CALLER, depth = 0): string[] {
  return spans
    .filter((span) => span.parentId === parentId)
    .flatMap((span) => [`${'  '.repeat(depth)}${nameSpan(span)}`, ...toTree(spans, span.spanId, depth + 1)])
}
