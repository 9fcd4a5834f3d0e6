/**
 * Builds the request of a branch from the definition and from the values that other branches answered. Nothing built is
 * stored, because the values never change once they are recorded: each attempt, by any node, builds the same request.
 */
import { PAYLOAD_BYTES_MAX, URL_LENGTH_MAX } from '@counterstep/protocol'
import type { JsonTemplate, RequestTemplate, SagaBranch, ValueReference } from '../definition.ts'
import { findExcess, isHeaderValue } from '../submission/parse-headers.ts'
import { utf8Length } from '../submission/utf8-length.ts'
import type { SagaOp, SagaTransaction } from '../transaction.ts'
import { fillUrl } from './fill-url.ts'

export interface BranchRequest {
  readonly url: string
  readonly body: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
}

export type BuiltRequest =
  | { readonly type: 'built'; readonly request: BranchRequest }
  /** A value is missing or cannot stand in its place. The reason names no value, because it may be a secret. */
  | { readonly type: 'unusable'; readonly reason: string }

/** Why a request cannot be built. It is caught in this file. */
class UnusableValue extends Error {}

/** Builds the request of one op of one branch. A compensation gets null for a value that is not known. */
export function buildRequest(saga: SagaTransaction, position: number, op: SagaOp): BuiltRequest {
  const branch = saga.definition.branches[position] as SagaBranch
  const { template, ...plain } = readPlainRequest(branch, op)
  if (template === undefined) return { type: 'built', request: plain }
  try {
    return { type: 'built', request: fillRequest(saga, plain, template, op) }
  } catch (error: unknown) {
    if (error instanceof UnusableValue) return { type: 'unusable', reason: error.message }
    throw error
  }
}

/** Returns the positions of the branches whose values the request of a compensation uses. */
export function listProducers(branch: SagaBranch): readonly number[] {
  const { url = {}, body = [], headers = {} } = branch.compensationContent?.template ?? {}
  const references = [...Object.values(url), ...body, ...Object.values(headers)]
  return references.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.from]))
}

/** Builds the output of a saga that has succeeded, as JSON. Undefined: it has none. */
export function buildOutput(saga: SagaTransaction): string | undefined {
  const output = saga.definition.values?.output
  return output === undefined ? undefined : fillJson(saga, output, 'null')
}

function readPlainRequest(
  branch: SagaBranch,
  op: SagaOp,
): BranchRequest & { readonly template?: RequestTemplate | undefined } {
  const { body, contentType, headers } = branch
  if (op === 'action')
    return { url: branch.action, body, contentType, headers, template: branch.actionTemplate }
  const url = branch.compensation ?? ''
  const { compensationContent: own } = branch
  if (own === undefined) return { url, body, contentType, headers }
  const { template } = own
  return { url, body: own.body, contentType: own.contentType, headers: own.headers, template }
}

function fillRequest(
  saga: SagaTransaction,
  plain: BranchRequest,
  { url, body, headers }: RequestTemplate,
  op: SagaOp,
): BranchRequest {
  return {
    url: url === undefined ? plain.url : fillPlaces(saga, plain.url, url),
    body: body === undefined ? plain.body : fillBody(saga, body, op),
    contentType: plain.contentType,
    headers: headers === undefined ? plain.headers : fillHeaders(saga, plain.headers, headers, op),
  }
}

function fillPlaces(
  saga: SagaTransaction,
  url: string,
  places: Readonly<Record<string, ValueReference>>,
): string {
  const filled = fillUrl(url, (name) => {
    const reference = places[name]
    return reference === undefined ? undefined : readText(saga, reference, 'the URL')
  })
  if (filled === undefined) throw new UnusableValue('a value would change the path of the URL')
  if (filled.length > URL_LENGTH_MAX) throw new UnusableValue(`the URL is over ${URL_LENGTH_MAX} characters`)
  return filled
}

function fillBody(saga: SagaTransaction, template: JsonTemplate, op: SagaOp): string {
  const body = fillJson(saga, template, op === 'compensate' ? 'null' : undefined)
  if (utf8Length(body, PAYLOAD_BYTES_MAX) > PAYLOAD_BYTES_MAX)
    throw new UnusableValue(`the body is over ${PAYLOAD_BYTES_MAX} bytes`)
  return body
}

function fillJson(saga: SagaTransaction, template: JsonTemplate, absent: string | undefined): string {
  return template
    .map((piece) => {
      if (typeof piece === 'string') return piece
      const value = findValue(saga, piece) ?? absent
      if (value === undefined) throw new UnusableValue(`${describe(saga, piece)} is missing`)
      return value
    })
    .join('')
}

function fillHeaders(
  saga: SagaTransaction,
  plain: BranchRequest['headers'],
  references: Readonly<Record<string, ValueReference>>,
  op: SagaOp,
): BranchRequest['headers'] {
  // A header may have the name of a property that every object inherits.
  const headers: Record<string, string> = Object.assign(Object.create(null), plain)
  for (const [name, reference] of Object.entries(references)) {
    // A compensation goes out without a header whose value is not known.
    if (op === 'compensate' && (findValue(saga, reference) ?? 'null') === 'null') continue
    const text = readText(saga, reference, 'a header')
    if (!isHeaderValue(text)) throw new UnusableValue(`${describe(saga, reference)} cannot stand in a header`)
    headers[name] = text.trim()
  }
  const [excess] = findExcess(headers)
  if (excess !== undefined) throw new UnusableValue(`the request ${excess}`)
  return headers
}

/** Reads a value that stands outside of JSON: a string, a number with its digits, true or false. */
function readText(saga: SagaTransaction, reference: ValueReference, where: string): string {
  const value = findValue(saga, reference)
  if (value === undefined) throw new UnusableValue(`${describe(saga, reference)} is missing`)
  const text = toPlainText(value)
  if (text === undefined) throw new UnusableValue(`${describe(saga, reference)} cannot stand in ${where}`)
  return text
}

/** Returns the text of a JSON value for a URL or a header. Undefined: it is null, a list or an object. */
export function toPlainText(json: string): string | undefined {
  if (json.startsWith('"')) return JSON.parse(json) as string
  return /^[{[n]/.test(json) ? undefined : json
}

function findValue(
  saga: SagaTransaction,
  { from, value, else: otherwise }: ValueReference,
): string | undefined {
  return saga.branches[from]?.action.values?.[value] ?? otherwise
}

function describe({ definition }: SagaTransaction, { from, value }: ValueReference): string {
  const pointer = definition.values?.kept[from]?.[value] ?? ''
  return `the value at "${pointer}" in the answer of branch ${definition.branches[from]?.id ?? from}`
}
