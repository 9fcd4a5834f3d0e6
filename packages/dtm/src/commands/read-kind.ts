import { refuse } from '../wire/answer.ts'
import { cutRepeated } from '../wire/cut-repeated.ts'
import { type DtmKind, toKind } from '../wire/status-word.ts'

/** Throws for words that are no type. A workflow has commands of its own. */
export function readKind(transType: string): DtmKind {
  const kind = toKind(transType)
  if (kind !== undefined) return kind
  throw refuse(`unknow trans type: ${cutRepeated(transType)}`)
}
