/** The edits of operators: an overlay on the requests of single ops. The definition and its digest stay as they were. */
import { EDITS_BYTES_MAX, TRAIL_CHANGE_LENGTH_MAX } from '@counterstep/protocol'
import type { CallKey } from '../rules/events.ts'
import type { Edit, Transaction } from '../transaction.ts'
import { countBytes } from '../values/count-bytes.ts'
import { withoutQuery } from './without-query.ts'

type EditedFields = Omit<Edit, 'branch' | 'op'>

export function findEdit({ edits }: Pick<Transaction, 'edits'>, { branch, op }: CallKey): Edit | undefined {
  return edits?.find((edit) => edit.branch === branch && edit.op === op)
}

/**
 * Finds what an operator has edited of one op. A compensation without a content of its own gets that of the action, so it gets
 * it as it was edited.
 */
export function findContentEdit(transaction: Transaction, call: CallKey): Partial<Edit> | undefined {
  if (transaction.edits === undefined) return undefined
  const own = findEdit(transaction, call)
  const isOwnContent =
    transaction.kind !== 'saga' ||
    transaction.definition.branches[call.branch]?.compensationContent !== undefined
  if (call.op !== 'compensate' || isOwnContent) return own
  const ofAction = findEdit(transaction, { branch: call.branch, op: 'action' })
  if (ofAction === undefined) return own
  const { body, contentType, headers } = ofAction
  return {
    ...(body === undefined ? {} : { body }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(headers === undefined ? {} : { headers }),
    ...own,
  }
}

/** Puts the fields over an earlier edit of the same op. */
export function addEdit(edits: readonly Edit[] = [], call: CallKey, fields: EditedFields): readonly Edit[] {
  const before = findEdit({ edits }, call)
  const edit: Edit = { ...before, ...fields, branch: call.branch, op: call.op }
  return [...edits.filter((each) => each !== before), edit]
}

export function areTooLarge(edits: readonly Edit[]): boolean {
  return countBytes(JSON.stringify(edits)) > EDITS_BYTES_MAX
}

/** Tells whether the edit changes what a first attempt may already have done. Headers and limits do not. */
export function changesEffect({ url, body }: EditedFields): boolean {
  return url !== undefined || body !== undefined
}

/**
 * Says for the trail which parts are changed. A payload stands as its size, since a hash of one that has few forms tells what
 * it is, and a URL stands without its query.
 */
export function describeEdit({ url, body, headers, timeoutMs, retry }: EditedFields): string {
  const parts = [
    ...(url === undefined ? [] : [`url ${withoutQuery(url)}`]),
    ...(body === undefined ? [] : [`payload of ${countBytes(body)} bytes`]),
    ...(headers === undefined ? [] : [`headers ${Object.keys(headers).join(' ') || 'none'}`]),
    ...(timeoutMs === undefined ? [] : [`timeoutMs ${timeoutMs}`]),
    ...(retry === undefined ? [] : [`retry ${JSON.stringify(retry)}`]),
  ]
  return cutChange(parts.join(', '))
}

export function cutChange(text: string): string {
  return text.length <= TRAIL_CHANGE_LENGTH_MAX ? text : `${text.slice(0, TRAIL_CHANGE_LENGTH_MAX - 1)}…`
}
