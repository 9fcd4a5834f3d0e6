import { JSON_DEPTH_MAX, KEPT_VALUE_BYTES_MAX, KEPT_VALUES_BYTES_MAX } from '@counterstep/protocol'
import type { OpProgress, SagaTransaction } from '../transaction.ts'
import { countBytes, countValueBytes } from './count-bytes.ts'
import { findJsonValues, findStringEnd } from './find-json-values.ts'

const NONE: readonly string[] = []

/**
 * Finds the values that are kept of an answer, in the order of the branch's list. A value that the answer does not have, or
 * for which there is no room, is null, and so is one that is nested too deep. Returns undefined if nothing is kept of this
 * branch.
 */
function keepValues(
  { definition, branches }: SagaTransaction,
  branch: number,
  answerBody: string | undefined,
): readonly (string | null)[] | undefined {
  const pointers = definition.values?.kept[branch]
  if (pointers === undefined || pointers.length === 0) return undefined
  let room = (definition.values?.bytesMax ?? KEPT_VALUES_BYTES_MAX) - countKeptBytes(branches)
  return findJsonValues((answerBody ?? '').replace(/^\ufeff/, ''), pointers).map((value) => {
    if (value === null) return null
    const bytes = countBytes(value)
    if (bytes > Math.min(room, KEPT_VALUE_BYTES_MAX) || isTooDeep(value)) return null
    room -= bytes
    return copyText(value)
  })
}

/** Ends an op with success, together with the values that are kept of the branch's answer. */
export function succeedWithValues(
  saga: SagaTransaction,
  branch: number,
  progress: OpProgress,
  answerBody: string | undefined,
): OpProgress {
  const values = keepValues(saga, branch, answerBody)
  return values === undefined
    ? { ...progress, state: 'succeeded' }
    : { ...progress, state: 'succeeded', values }
}

/** Counts the bytes of all values that a saga has kept until now. */
export function countKeptBytes(branches: SagaTransaction['branches']): number {
  let sum = 0
  for (const { action } of branches) {
    for (const bytes of countValueBytes(action.values ?? NONE)) sum += bytes
  }
  return sum
}

/** Tells whether the answer of this branch's action is used by another request, or by the output. */
export function isProducer({ definition }: SagaTransaction, branch: number): boolean {
  return (definition.values?.kept[branch]?.length ?? 0) > 0
}

/**
 * A program that writes or reads a text with this value must not overflow its stack. The signs are read one by one, because
 * an answer of 64 KiB may have 60,000 brackets, and 32 values that stand in each other.
 */
function isTooDeep(json: string): boolean {
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const sign = json[at]
    if (sign === '"') at = findStringEnd(json, at)
    else if (sign === ']' || sign === '}') depth--
    else if (sign === '[' || sign === '{') {
      depth++
      if (depth > JSON_DEPTH_MAX) return true
    }
  }
  return false
}

/** A part of a text keeps the whole text in memory in V8, which may be 64 KiB for an id. */
function copyText(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string
}
