import { copyText, KEPT_VALUE_BYTES_MAX, KEPT_VALUES_BYTES_MAX, mayBeHandedOn } from '@counterstep/protocol'
import type { OpProgress, SagaTransaction } from '../transaction.ts'
import { computeOnce } from './compute-once.ts'
import { countBytes, countValueBytes } from './count-bytes.ts'
import { findJsonValues } from './find-json-values.ts'

const NONE: readonly string[] = []
/** The error of a step whose answer has no room in the journal of its workflow, or is over a bound. */
export const JOURNAL_FULL = 'journal-full'

/**
 * Finds the values that are kept of an answer, in the order of the branch's list. A value that the answer does not have, or
 * for which there is no room, is null, and so is one that other services could not read. Returns undefined if nothing is kept of this
 * branch.
 */
function keepValues(
  { definition, branches }: SagaTransaction,
  branch: number,
  answerBody: string | undefined,
): Pick<OpProgress, 'values' | 'error'> | undefined {
  const pointers = definition.values?.kept[branch]
  if (pointers === undefined || pointers.length === 0) return undefined
  const { bytesMax } = definition.values ?? {}
  let room = (bytesMax ?? KEPT_VALUES_BYTES_MAX) - countKeptBytes(branches)
  let isLost = false
  // Without room all are null. A workflow is told that one was lost, so its answer is looked at all the same.
  if (bytesMax === undefined && room <= 0) return { values: pointers.map(() => null) }
  const found = findJsonValues((answerBody ?? '').replace(/^\ufeff/, ''), pointers)
  const values = found.map((text, position) => {
    if (text === null) return null
    const isForCode = bytesMax !== undefined && pointers[position] === ''
    const bytesFree = Math.min(room, KEPT_VALUE_BYTES_MAX)
    // The room is asked for first, since a value for which there is none need not be read.
    const value =
      (isForCode || countBytes(text) <= bytesFree) && mayBeHandedOn(text)
        ? writeValue(text, isForCode)
        : undefined
    const bytes = value === undefined ? Number.POSITIVE_INFINITY : countBytes(value)
    if (value === undefined || bytes > bytesFree) {
      isLost = true
      return null
    }
    room -= bytes
    return value
  })
  // The code of a workflow must not go on with null in place of what a service has answered.
  return isLost && bytesMax !== undefined ? { values, error: JOURNAL_FULL } : { values }
}

/** Ends an op with success, together with the values that are kept of the branch's answer. */
export function succeedWithValues(
  saga: SagaTransaction,
  branch: number,
  progress: OpProgress,
  answerBody: string | undefined,
): OpProgress {
  return { ...progress, state: 'succeeded', ...keepValues(saga, branch, answerBody) }
}

const countFailureBytes = computeOnce(({ failure = '' }: OpProgress) => countBytes(failure))

/** Counts the bytes of all values that a saga has kept until now. A workflow keeps its failures, too. */
export function countKeptBytes(branches: SagaTransaction['branches']): number {
  let sum = 0
  for (const { action } of branches) {
    for (const bytes of countValueBytes(action.values ?? NONE)) sum += bytes
    if (action.failure !== undefined) sum += countFailureBytes(action)
  }
  return sum
}

/** Tells whether the answer of this branch's action is used by another request, or by the output. */
export function isProducer({ definition }: SagaTransaction, branch: number): boolean {
  return (definition.values?.kept[branch]?.length ?? 0) > 0
}

/**
 * A number keeps its digits, but for code, which gets what JSON.parse makes of it: 1e20 is four times as long then. A part of
 * a text keeps the whole text in memory in V8, which may be 64 KiB for an id.
 */
function writeValue(text: string, isForCode: boolean): string {
  return isForCode ? JSON.stringify(JSON.parse(text)) : copyText(text)
}
