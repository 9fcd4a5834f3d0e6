import type { Kind, Status } from '@counterstep/protocol'

// The numbers that stand in every store's data. An auditor reads them by itself.
const KINDS: readonly Kind[] = ['saga', 'tcc', 'message', 'workflow']
const STATUSES: readonly Status[] = ['prepared', 'submitted', 'aborting', 'succeeded', 'failed', 'stopped']

export function kindWord(code: unknown): Kind {
  return readWord(KINDS, code)
}

export function statusWord(code: unknown): Status {
  return readWord(STATUSES, code)
}

function readWord<Word>(words: readonly Word[], code: unknown): Word {
  const word = words[Number(code)]
  if (word === undefined) throw new Error(`the store holds a code that no auditor knows: ${String(code)}`)
  return word
}
