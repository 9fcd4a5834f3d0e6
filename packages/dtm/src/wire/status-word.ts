import type { Kind, Status } from '@counterstep/protocol'

/** DTM has no word for a transaction that an operator has ended: to it that is a failed one. */
export function statusWord(status: Status): string {
  if (status === 'succeeded') return 'succeed'
  return status === 'stopped' ? 'failed' : status
}

export function statusesOf(word: string): readonly Status[] {
  switch (word) {
    case 'prepared':
    case 'submitted':
    case 'aborting':
      return [word]
    case 'succeed':
      return ['succeeded']
    case 'failed':
      return ['failed', 'stopped']
    default:
      return []
  }
}

export function transType(kind: Kind): string {
  return kind === 'message' ? 'msg' : kind
}

export function kindOf(transType: string): Kind | undefined {
  if (transType === 'msg') return 'message'
  return transType === 'saga' || transType === 'tcc' ? transType : undefined
}
