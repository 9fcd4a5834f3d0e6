import { refuse } from '../wire/answer.ts'
import { cutRepeated } from '../wire/cut-repeated.ts'
import { refuseUnsupported } from '../wire/refuse-unsupported.ts'
import { type DtmKind, toKind } from '../wire/status-word.ts'

/** Throws for DTM's types that this server does not support, and for words that are no type at all. */
export function readKind(transType: string): DtmKind {
  const kind = toKind(transType)
  if (kind !== undefined) return kind
  if (transType === 'workflow') throw refuseUnsupported('transactions of type workflow are')
  throw refuse(`unknow trans type: ${cutRepeated(transType)}`)
}
