/**
 * Builds the request of a branch from the definition and from the values that other branches answered. Nothing built is
 * stored, because the values never change once they are recorded: each attempt, by any node, builds the same request.
 */
import { findUrlFault, HEADER_BYTES_MAX, PAYLOAD_BYTES_MAX, URL_LENGTH_MAX } from '@counterstep/protocol'
import type { JsonTemplate, RequestTemplate, SagaBranch, ValueReference } from '../definition.ts'
import { AssertionError } from '../errors.ts'
import { findContentEdit } from '../record/edits.ts'
import { findExcess, isHeaderValue } from '../submission/parse-headers.ts'
import type { SagaOp, SagaTransaction } from '../transaction.ts'
import { computeOnce } from './compute-once.ts'
import { countBytes, countValueBytes } from './count-bytes.ts'
import { fillUrl } from './fill-url.ts'

export interface BranchRequest {
  readonly url: string
  readonly body: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
}

/** A request or a wait that is due, and for which the values are missing or wrong. */
export interface UnusableRequest {
  readonly branch: number
  readonly reason: string
}

/** Says why a request cannot be built. It names no value, because a value may be a secret. */
class UnusableValueError extends AssertionError {}

/**
 * Builds the request of one op of one branch. Throws an AssertionError if `findUnusableValue` finds a reason why it cannot be
 * built, because such a request must not be asked for.
 */
export function buildRequest(saga: SagaTransaction, position: number, op: SagaOp): BranchRequest {
  const { template, ...plain } = readEditedRequest(saga, position, op)
  if (template === undefined) return plain
  const { body } = template
  if (body !== undefined) checkBody(saga, body, op)
  return {
    ...plain,
    ...fillHead(saga, plain, template, op),
    ...(body === undefined ? {} : { body: fillJson(saga, body) }),
  }
}

/**
 * Tells why a request cannot be built. Returns undefined if it can. A body is only measured and not built, because this
 * is asked for each due branch at each step of its saga.
 */
export function findUnusableValue(saga: SagaTransaction, position: number, op: SagaOp): string | undefined {
  const { template, ...plain } = readEditedRequest(saga, position, op)
  if (template === undefined) return undefined
  try {
    if (template.body !== undefined) checkBody(saga, template.body, op)
    // A compensation goes out with whatever its values leave of its URL and its headers, which take long to fill.
    if (op === 'action') fillHead(saga, plain, template, op)
    return undefined
  } catch (error: unknown) {
    if (error instanceof UnusableValueError) return error.message
    throw error
  }
}

/**
 * Counts the bytes that the request of one op takes beside the definition: a body that is built from values, and a URL.
 * It is 0 if nothing of them is built. Headers are no copies, as all requests share the text of one value.
 */
export function countBuiltBytes(saga: SagaTransaction, position: number, op: SagaOp): number {
  const { template } = readEditedRequest(saga, position, op)
  if (template === undefined) return 0
  const urlBytes = template.url === undefined ? 0 : URL_LENGTH_MAX
  return urlBytes + (template.body === undefined ? 0 : countBodyBytes(saga, template.body))
}

/** Returns the positions of the branches whose values the request of a compensation uses. */
export function listProducers(branch: SagaBranch): readonly number[] {
  const { url = {}, body = [], headers = {} } = branch.compensationContent?.template ?? {}
  const references = [...Object.values(url), ...body, ...Object.values(headers)]
  return references.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.from]))
}

/**
 * Builds the output of a saga that has succeeded, as JSON. It is null if it is over the bound of a payload. Returns
 * undefined if the saga has none.
 */
export function buildOutput(saga: SagaTransaction): string | undefined {
  const output = saga.definition.values?.output
  if (output === undefined) return undefined
  return countBodyBytes(saga, output) > PAYLOAD_BYTES_MAX ? 'null' : fillJson(saga, output)
}

type PlainRequest = BranchRequest & { readonly template?: RequestTemplate | undefined }

/** An operator's edit replaces its part of the request together with the part's template. */
function readEditedRequest(saga: SagaTransaction, position: number, op: SagaOp): PlainRequest {
  const branch = saga.definition.branches[position] as SagaBranch
  const plain = readPlainRequest(branch, op)
  const edit = findContentEdit(saga, { branch: position, op })
  if (edit === undefined) return plain
  const { url, body, contentType, headers } = edit
  const open = plain.template ?? {}
  const template: RequestTemplate = {
    ...(url === undefined && open.url !== undefined ? { url: open.url } : {}),
    ...(body === undefined && open.body !== undefined ? { body: open.body } : {}),
    ...(headers === undefined && open.headers !== undefined ? { headers: open.headers } : {}),
  }
  return {
    url: url ?? plain.url,
    body: body ?? plain.body,
    contentType: contentType ?? plain.contentType,
    headers: headers ?? plain.headers,
    template: Object.keys(template).length === 0 ? undefined : template,
  }
}

function readPlainRequest(branch: SagaBranch, op: SagaOp): PlainRequest {
  const { body, contentType, headers } = branch
  if (op === 'action')
    return { url: branch.action, body, contentType, headers, template: branch.actionTemplate }
  const url = branch.compensation ?? ''
  const { compensationContent: own } = branch
  if (own === undefined) return { url, body, contentType, headers }
  const { template } = own
  return { url, body: own.body, contentType: own.contentType, headers: own.headers, template }
}

function fillHead(
  saga: SagaTransaction,
  plain: BranchRequest,
  { url, headers }: RequestTemplate,
  op: SagaOp,
): Pick<BranchRequest, 'url' | 'headers'> {
  return {
    url: url === undefined ? plain.url : fillPlaces(saga, plain.url, url, op),
    headers: headers === undefined ? plain.headers : fillHeaders(saga, plain.headers, headers, op),
  }
}

/**
 * Fills the places of the URL. A compensation must be sent whatever its values are, so `fillWithElse` makes its URL if a value
 * cannot stand there, or could be taken for the identity of the call. The URL of an action is checked when it is called, and is
 * refused then.
 */
function fillPlaces(
  saga: SagaTransaction,
  url: string,
  places: Readonly<Record<string, ValueReference>>,
  op: SagaOp,
): string {
  const references = Object.entries(places)
  const values = new Map(references.map(([name, reference]) => [name, findText(saga, reference)]))
  const isKnown = [...values.values()].every((text) => text !== undefined)
  const filled = isKnown ? fillUrl(url, (name) => values.get(name)) : undefined
  if (op === 'compensate') return isSound(filled) ? filled : fillWithElse(url, places, values)
  if (filled !== undefined && filled.length <= URL_LENGTH_MAX) return filled
  const [, missing] = references.find(([name]) => values.get(name) === undefined) ?? []
  if (missing !== undefined) throw new UnusableValueError(describeProblem(saga, missing, 'the URL'))
  throw new UnusableValueError(
    filled === undefined
      ? 'a value would change the path of the URL'
      : `the URL is over ${URL_LENGTH_MAX} characters`,
  )
}

/** A value of these signs alone can stand in any place, whatever the others are: an id is one, mostly. */
const PLAIN_VALUE = /^(?!\.+$)[\p{L}\p{N}_.~@:,+*/= -]{1,256}$/u

/**
 * Fills the places of which some value cannot stand there. The plain values stay, so that a note does not take the id along, and
 * each other place gets its `else`. Where the URL is too long, the longest values give way first. If it is not sound either, all
 * places get their `else`, which was checked at submit.
 */
function fillWithElse(
  url: string,
  places: Readonly<Record<string, ValueReference>>,
  values: ReadonlyMap<string, string | undefined>,
): string {
  const fillElse = (name: string) => readElse(places[name])
  const plain = new Map(
    [...values].flatMap(([name, text]) =>
      text !== undefined && PLAIN_VALUE.test(text) ? [[name, text] as const] : [],
    ),
  )
  const fill = () => fillUrl(url, (name) => plain.get(name) ?? fillElse(name))
  const longestFirst = [...plain].sort(
    ([, one], [, other]) => encodeURIComponent(other).length - encodeURIComponent(one).length,
  )
  let filled = fill()
  for (const [name] of longestFirst) {
    if (filled === undefined || filled.length <= URL_LENGTH_MAX) break
    plain.delete(name)
    filled = fill()
  }
  return isSound(filled) ? filled : (fillUrl(url, fillElse) ?? url)
}

function isSound(filled: string | undefined): filled is string {
  return filled !== undefined && filled.length <= URL_LENGTH_MAX && findUrlFault(filled) === undefined
}

function readElse(reference: ValueReference | undefined): string | undefined {
  return reference?.else === undefined ? undefined : toPlainText(reference.else)
}

function checkBody(saga: SagaTransaction, template: JsonTemplate, op: SagaOp): void {
  const missing = template.find((piece) => typeof piece !== 'string' && findValue(saga, piece) === undefined)
  if (op === 'action' && missing !== undefined && typeof missing !== 'string')
    throw new UnusableValueError(`${describe(saga, missing)} is missing`)
  if (countBodyBytes(saga, template) > PAYLOAD_BYTES_MAX)
    throw new UnusableValueError(`the body is over ${PAYLOAD_BYTES_MAX} bytes`)
}

/** Counts the bytes of the fixed texts of a template. */
const countTextBytes = computeOnce((template: JsonTemplate) =>
  template.reduce((sum, piece) => sum + (typeof piece === 'string' ? countBytes(piece) : 0), 0),
)

function countBodyBytes({ branches }: SagaTransaction, template: JsonTemplate): number {
  let bytes = countTextBytes(template)
  for (const piece of template) {
    if (typeof piece === 'string') continue
    const { values } = branches[piece.from]?.action ?? {}
    const isThere = values !== undefined && values[piece.value] !== null
    bytes += isThere ? (countValueBytes(values)[piece.value] ?? 0) : countBytes(piece.else ?? 'null')
  }
  return bytes
}

/** Joins the pieces. A value that is not there is null. */
function fillJson(saga: SagaTransaction, template: JsonTemplate): string {
  return template
    .map((piece) => (typeof piece === 'string' ? piece : (findValue(saga, piece) ?? 'null')))
    .join('')
}

/** A compensation goes out without the headers whose values are not known or cannot stand there, or for which there is no room. */
function fillHeaders(
  saga: SagaTransaction,
  plain: BranchRequest['headers'],
  references: Readonly<Record<string, ValueReference>>,
  op: SagaOp,
): BranchRequest['headers'] {
  // A header may have the name of a property that every object inherits.
  const headers: Record<string, string> = Object.assign(Object.create(null), plain)
  for (const [name, reference] of Object.entries(references)) {
    const text = findText(saga, reference)
    const texts = op === 'compensate' ? [text, readElse(reference)] : [text]
    const stands = texts.find((each) => each !== undefined && isHeaderValue(each))
    if (stands !== undefined) headers[name] = stands.trim()
    else if (op === 'compensate') delete headers[name]
    else throw new UnusableValueError(describeProblem(saga, reference, 'a header'))
  }
  const [excess] = findExcess(headers)
  if (excess === undefined) return headers
  if (op === 'compensate') return dropLongest(headers, Object.keys(references))
  throw new UnusableValueError(`the request ${excess}`)
}

/** Leaves out the longest ones of these headers first, until the others have room. */
function dropLongest(headers: Record<string, string>, names: readonly string[]): BranchRequest['headers'] {
  const lengthOf = (name: string) => headers[name]?.length ?? 0
  for (const name of [...names].sort((one, other) => lengthOf(other) - lengthOf(one))) {
    if (findExcess(headers).length === 0) break
    delete headers[name]
  }
  return headers
}

/** A longer text can stand neither in a URL nor in a header. */
const TEXT_LENGTH_MAX = Math.max(URL_LENGTH_MAX, HEADER_BYTES_MAX)

/** Reads the values of one answer as texts. A value that can stand neither in a URL nor in a header is undefined. */
const readTexts = computeOnce((values: readonly (string | null)[]) =>
  values.map((json) => (json === null ? undefined : dropLong(toPlainText(json)))),
)

/** Finds a value that stands outside of JSON: a string, a number with its digits, true or false. */
export function findText(
  saga: SagaTransaction,
  { from, value, else: otherwise }: ValueReference,
): string | undefined {
  const { values } = saga.branches[from]?.action ?? {}
  if (typeof values?.[value] === 'string') return readTexts(values)[value]
  return otherwise === undefined ? undefined : toPlainText(otherwise)
}

function dropLong(text: string | undefined): string | undefined {
  return text === undefined || text.length > TEXT_LENGTH_MAX ? undefined : text
}

/** Names a value by its place and says what is wrong with it. The value itself may be a secret. */
export function describeProblem(saga: SagaTransaction, reference: ValueReference, where: string): string {
  const isMissing = findValue(saga, reference) === undefined
  return `${describe(saga, reference)} ${isMissing ? 'is missing' : `cannot stand in ${where}`}`
}

/** Returns the text of a JSON value for a URL or a header, or undefined for null, a list and an object. */
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
