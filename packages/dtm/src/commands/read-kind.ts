import type { Kind } from '@counterstep/protocol'
import { refuse } from '../wire/answer.ts'
import { notThereYet } from '../wire/refuse-unsupported.ts'
import { kindOf } from '../wire/status-word.ts'

/** Throws for the modes that are not there yet, and for what is none. */
export function readKind(transType: string): Kind {
  const kind = kindOf(transType)
  if (kind !== undefined) return kind
  if (transType === 'xa' || transType === 'workflow')
    throw notThereYet(`transactions of type ${transType} are`)
  throw refuse(`unknow trans type: ${transType}`)
}
