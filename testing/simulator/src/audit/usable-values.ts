/**
 * Tells what a request can carry. It says again, in words of its own, what the core must decide, so that the one checks the
 * other.
 */
import type {
  RequestTemplate,
  SagaBranch,
  SagaOp,
  SagaTransaction,
  StoredTransaction,
  Transaction,
  ValueReference,
} from '@counterstep/core'
import { HEADER_BYTES_MAX, PAYLOAD_BYTES_MAX, URL_LENGTH_MAX } from '@counterstep/protocol'
import { isForbidden } from '../clients/answers-plan.ts'
import { readRecord } from '../world/read-record.ts'

/** A request as it was planned: fixed parts, and a template with places for values. */
export interface PlannedRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly template: RequestTemplate
}

const PLAIN_LENGTH_MAX = 256

/** Where in a request a value stands. */
export type Place = 'path' | 'query' | 'header' | 'body'

/** Finds the JSON of the recorded value. Returns undefined where the record has none. */
export type ReadRecorded = (reference: ValueReference) => string | undefined

export function makeReader({ branches }: SagaTransaction): ReadRecorded {
  return ({ from, value }) => branches[from]?.action.values?.[value] ?? undefined
}

export function findPlanned(target: SagaBranch | undefined, op: SagaOp): PlannedRequest | undefined {
  if (target === undefined) return undefined
  if (op === 'action') {
    const { action: url, headers, actionTemplate: template } = target
    return template === undefined ? undefined : { url, headers, template }
  }
  const { compensation: url = '', compensationContent } = target
  return compensationContent?.template === undefined
    ? undefined
    : { url, headers: compensationContent.headers, template: compensationContent.template }
}

/** Returns the text of a value outside of JSON. Null, a list and an object have none. */
export function toPlain(json: string): string | undefined {
  const value: unknown = JSON.parse(json)
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? json : undefined
}

export function canStand(json: string, place: Place): boolean {
  if (place === 'body') return true
  const text = toPlain(json)
  if (text === undefined) return false
  if (place === 'header') return /^[\t\x20-\x7e]*$/.test(text)
  return place === 'query' || !['', '.', '..'].includes(text)
}

/** Whether all values that are there can stand in the URL together. */
export function isUsableUrl({ url, template }: PlannedRequest, read: ReadRecorded): boolean {
  const [path = ''] = url.split('?')
  let filled = url
  for (const [name, reference] of Object.entries(template.url ?? {})) {
    const json = read(reference) ?? reference.else
    if (json === undefined || !canStand(json, path.includes(`{${name}}`) ? 'path' : 'query')) return false
    filled = filled.replace(`{${name}}`, () => encodeURIComponent(toPlain(json) ?? ''))
  }
  return filled.length <= URL_LENGTH_MAX
}

/** A value of a compensation that stays in its URL also where others cannot stand there: it is short and can stand anywhere. */
export function isPlainValue(json: string): boolean {
  return canStand(json, 'path') && (toPlain(json) ?? '').length <= PLAIN_LENGTH_MAX
}

/** Whether all headers together are within their bound. Those that cannot be sent do not count. */
export function areShortHeaders({ headers, template }: PlannedRequest, read: ReadRecorded): boolean {
  let bytes = 0
  for (const [name, text] of Object.entries(headers)) bytes += name.length + text.length
  for (const [name, reference] of Object.entries(template.headers ?? {})) {
    const json = read(reference) ?? reference.else
    if (json !== undefined && canStand(json, 'header')) bytes += name.length + (toPlain(json) ?? '').length
  }
  return bytes <= HEADER_BYTES_MAX
}

/** Whether the request cannot be sent at all with the values of the record. */
export function isUnsendable(planned: PlannedRequest, op: SagaOp, read: ReadRecorded): boolean {
  const { body = [], url = {}, headers = {} } = planned.template
  if (isOverBound(body, read)) return true
  const isUrlUsable = isUsableUrl(planned, read)
  const isRefused = Object.values(url).some((reference) => {
    const json = read(reference)
    return json !== undefined && (isUrlUsable || isPlainValue(json)) && isForbidden(json)
  })
  if (op === 'compensate') return isRefused
  const references = [...body.filter((piece) => typeof piece !== 'string'), ...Object.values(headers)]
  const isMissing = references.some((reference) => (read(reference) ?? reference.else) === undefined)
  const isHeaderWrong = Object.values(headers).some(
    (reference) => !canStand(read(reference) ?? reference.else ?? '""', 'header'),
  )
  return isMissing || !isUrlUsable || isRefused || isHeaderWrong || !areShortHeaders(planned, read)
}

function isOverBound(body: NonNullable<RequestTemplate['body']>, read: ReadRecorded): boolean {
  let bytes = 0
  for (const piece of body)
    bytes += Buffer.byteLength(typeof piece === 'string' ? piece : (read(piece) ?? piece.else ?? 'null'))
  return bytes > PAYLOAD_BYTES_MAX
}

/** Whether a value is a good reason to abort, because the action of this branch cannot be sent with it. */
export function mayTurnForValue(transaction: Transaction, branch: number): boolean {
  if (transaction.kind !== 'saga') return false
  const planned = findPlanned(transaction.definition.branches[branch], 'action')
  return planned !== undefined && isUnsendable(planned, 'action', makeReader(transaction))
}

/**
 * Whether a saga rightly waits for a person: it is marked, and it has a call that cannot be sent with the values of the
 * record, and that is not given up: a compensation, or an action after the point of no return.
 */
export function isStuck(row: StoredTransaction): boolean {
  if (!row.attention) return false
  const saga = readRecord(row)
  if (saga.kind !== 'saga') return false
  const read = makeReader(saga)
  if (saga.status === 'submitted' && saga.noReturnAt !== undefined)
    return saga.definition.branches.some(({ after, role }, branch) => {
      const isDue = after.every((before) => saga.branches[before]?.action.state === 'succeeded')
      const planned = findPlanned(saga.definition.branches[branch], 'action')
      return role !== undefined && isDue && planned !== undefined && isUnsendable(planned, 'action', read)
    })
  if (saga.status !== 'aborting') return false
  return saga.abort.branches.some((branch) => {
    const planned = findPlanned(saga.definition.branches[branch], 'compensate')
    const isLeft = saga.branches[branch]?.compensate.state !== 'succeeded'
    return isLeft && planned !== undefined && isUnsendable(planned, 'compensate', read)
  })
}
