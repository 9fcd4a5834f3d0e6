import type { OpenKind } from '@counterstep/protocol'
import { refuse } from '../wire/answer.ts'
import { refuseUnsupported } from '../wire/refuse-unsupported.ts'
import { toKind } from '../wire/status-word.ts'

/** Throws for DTM's types that this server does not support, and for words that are no type at all. */
export function readKind(transType: string): OpenKind {
  const kind = toKind(transType)
  if (kind !== undefined) return kind
  if (transType === 'xa' || transType === 'workflow')
    throw refuseUnsupported(`transactions of type ${transType} are`)
  throw refuse(`unknow trans type: ${transType}`)
}
