import type { Kind, Status } from '@counterstep/protocol'

/** Returns DTM's word. DTM has none for a transaction that an operator has stopped, so it is shown as failed. */
export function toStatusWord(status: Status): string {
  if (status === 'succeeded') return 'succeed'
  return status === 'stopped' ? 'failed' : status
}

export function toStatuses(word: string): readonly Status[] {
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

/** The kinds whose branches are called here. DTM's own workflow has none. */
export type DtmKind = Exclude<Kind, 'workflow' | 'recorded'>

export function toKind(transType: string): DtmKind | undefined {
  if (transType === 'msg') return 'message'
  return transType === 'saga' || transType === 'tcc' || transType === 'xa' ? transType : undefined
}
