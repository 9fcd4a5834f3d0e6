import {
  BRANCHES_MAX,
  HEADERS_MAX,
  type SagaRole,
  URL_LENGTH_MAX,
  URL_PLACES_MAX,
} from '@counterstep/protocol'
import type { CompensationContent, RequestTemplate, SagaBranch, ValueReference } from '../definition.ts'
import { toPlainText } from '../values/build-request.ts'
import { countUrlPlaces, fillUrl, findMisplaced, hasBrace, listPlaces } from '../values/fill-url.ts'
import type { Writable } from '../writable.ts'
import { type Faults, isRecord, pointerStep, refuseUnknownFields } from './faults.ts'
import { parseContent, parseTarget, parseUrl } from './parse-branch.ts'
import { findExcess, type Headers, parseHeaders } from './parse-headers.ts'
import { parseWaitBranch } from './parse-wait.ts'
import type { References, ReferenceUser, SagaContext } from './references.ts'

/** Holds a branch as it was sent. Its predecessors are still named by ids. */
export interface ParsedBranch {
  readonly branch: Omit<SagaBranch, 'after'>
  readonly afterIds: readonly string[] | undefined
}

type Fields = Readonly<Record<string, unknown>>

const FIELDS = new Set([
  'id',
  'action',
  'compensation',
  'payload',
  'template',
  'body',
  'contentType',
  'after',
  'retry',
  'timeoutMs',
  'headers',
  'role',
])
const ROLES: readonly SagaRole[] = ['compensable', 'pivot', 'retriable']
const URL_FIELDS = new Set(['url', 'with'])
const COMPENSATION_FIELDS = new Set(['url', 'with', 'payload', 'template', 'body', 'contentType', 'headers'])

export function parseSagaBranch(
  value: unknown,
  position: number,
  context: SagaContext,
): ParsedBranch | undefined {
  const path = `/branches/${position}`
  const { faults } = context
  if (!isRecord(value)) return faults.add('SAGA_INVALID', path, 'must be an object')
  if ('wait' in value) {
    const branch = parseWaitBranch(value, position, path, context)
    return branch && { branch, afterIds: parseAfter(value.after, `${path}/after`, faults) }
  }
  refuseUnknownFields(value, FIELDS, path, faults)
  const user = { type: 'action', position } as const
  const { template: ofUrl, url } = parseTemplateUrl(value.action, `${path}/action`, user, URL_FIELDS, context)
  const { plain, template } = splitTemplates(value, path, user, context)
  const afterIds = parseAfter(value.after, `${path}/after`, faults)
  const branch: Writable<ParsedBranch['branch']> = {
    ...parseTarget(plain, position, path, context),
    action: url ?? '',
  }
  refuseExcess(branch.headers, template.headers, `${path}/headers`, faults)
  applyFixedParts(branch, template)
  const actionTemplate = joinTemplates(ofUrl, template)
  if (actionTemplate !== undefined) branch.actionTemplate = actionTemplate
  parseRole(value, path, branch, faults)
  parseCompensation(value, position, path, branch, context)
  return { branch, afterIds }
}

function parseCompensation(
  value: Fields,
  position: number,
  path: string,
  branch: Writable<ParsedBranch['branch']>,
  context: SagaContext,
): void {
  const { compensation } = value
  if (compensation === undefined) return
  const ownPath = `${path}/compensation`
  const user = { type: 'compensation', position } as const
  if (!isRecord(compensation)) {
    const url = parseUrl(compensation, ownPath, context)
    if (url !== undefined) branch.compensation = url
    if (hasTemplates(value))
      context.faults.add(
        'SAGA_REFERENCE_INVALID',
        ownPath,
        'must be an object with a content of its own, since the action has a template',
      )
    return
  }
  const parsed = parseTemplateUrl(compensation, ownPath, user, COMPENSATION_FIELDS, context)
  if (parsed.url !== undefined) branch.compensation = parsed.url
  const { plain, template } = splitTemplates(compensation, ownPath, user, context)
  const content: Writable<CompensationContent> = {
    ...parseContent(plain, ownPath, context.faults),
    headers: parseHeaders(plain.headers, `${ownPath}/headers`, context.faults, context.headers),
  }
  refuseExcess(content.headers, template.headers, `${ownPath}/headers`, context.faults)
  applyFixedParts(content, template)
  const joined = joinTemplates(parsed.template, template)
  if (joined !== undefined) content.template = joined
  branch.compensationContent = content
}

/**
 * Reads the role of a branch. The retry limit of the whole saga is not refused, since a branch that cannot be undone
 * ignores it.
 */
function parseRole(
  { role: value, retry }: Fields,
  path: string,
  branch: Writable<ParsedBranch['branch']>,
  faults: Faults,
): void {
  const role = ROLES.find((each) => each === value)
  if (value !== undefined && role === undefined)
    faults.add('SAGA_ROLE_INVALID', `${path}/role`, `must be one of ${ROLES.join(', ')}`)
  if (role === undefined || role === 'compensable') return
  branch.role = role
  if (isRecord(retry) && typeof retry.limit === 'number')
    faults.add('SAGA_ROLE_INVALID', `${path}/retry/limit`, `is not for a ${role}`)
}

function hasTemplates({ template, headers }: Fields): boolean {
  return template !== undefined || (isRecord(headers) && Object.values(headers).some(isRecord))
}

interface TemplateUrl {
  readonly url: string | undefined
  readonly template: RequestTemplate['url']
}

/** Reads a URL, or an object with a URL and the values of its places. */
function parseTemplateUrl(
  value: unknown,
  path: string,
  user: ReferenceUser,
  fields: ReadonlySet<string>,
  context: SagaContext,
): TemplateUrl {
  const { faults, references } = context
  if (!isRecord(value)) return { url: parseUrl(value, path, context), template: undefined }
  references.markUsed()
  refuseUnknownFields(value, fields, path, faults)
  const { url, with: values = {} } = value
  // A URL that is too long is not looked at, because one of 1 MiB has tens of thousands of places.
  if (typeof url !== 'string' || url.length > URL_LENGTH_MAX)
    return { url: parseUrl(url, `${path}/url`, context), template: undefined }
  if (!isRecord(values)) {
    faults.add('SAGA_REFERENCE_INVALID', `${path}/with`, 'must be an object of references')
    return { url: undefined, template: undefined }
  }
  // Each attempt fills every place anew.
  if (countUrlPlaces(url) > URL_PLACES_MAX) {
    faults.add('SAGA_REFERENCE_INVALID', `${path}/url`, `has more than ${URL_PLACES_MAX} places for values`)
    return { url: undefined, template: undefined }
  }
  const places = listPlaces(url)
  refuseOtherPlaces(places, values, path, faults)
  const misplaced = hasBrace(url) ? findMisplaced(url) : undefined
  if (misplaced !== undefined) faults.add('SAGA_URL_INVALID', `${path}/url`, misplaced)
  const { texts, open } = readPlaces(places, values, path, user, references)
  const filled = fillUrl(url, (name) => texts.get(name))
  if (filled === undefined)
    faults.add('SAGA_REFERENCE_INVALID', `${path}/with`, 'has a value that would change the path')
  // The policy on targets is asked again with the real URL when it is called.
  const sample = parseUrl(fillUrl(filled ?? url, () => 'x') ?? url, `${path}/url`, context)
  if (filled !== undefined && sample !== undefined) refuseElse(filled, open, path, context)
  return {
    url: sample === undefined ? undefined : filled,
    template: Object.keys(open).length === 0 ? undefined : open,
  }
}

/**
 * Refuses an `else` that makes a URL which may not be called. The `else` is sent when there is no other value to send.
 */
function refuseElse(
  url: string,
  open: Readonly<Record<string, ValueReference>>,
  path: string,
  { checkUrl, faults }: SagaContext,
): void {
  const withElse = fillUrl(url, (name) => {
    const otherwise = open[name]?.else
    return otherwise === undefined ? 'x' : toPlainText(otherwise)
  })
  const isSound =
    withElse !== undefined && withElse.length <= URL_LENGTH_MAX && checkUrl(withElse) === undefined
  if (!isSound)
    faults.add('SAGA_REFERENCE_INVALID', `${path}/with`, 'has an else that cannot stand in this URL')
}

function refuseOtherPlaces(places: readonly string[], values: Fields, path: string, faults: Faults): void {
  for (const name of places) {
    if (!Object.hasOwn(values, name))
      faults.add('SAGA_REFERENCE_INVALID', `${path}/with`, `has no value for {${name}}`)
  }
  const known = new Set(places)
  for (const name of Object.keys(values)) {
    if (!known.has(name))
      faults.add('SAGA_REFERENCE_INVALID', `${path}/with/${pointerStep(name)}`, 'has no place in the URL')
  }
}

/** Reads the values of the places: those that are known now, and those that a branch will answer. */
function readPlaces(
  places: readonly string[],
  values: Fields,
  path: string,
  user: ReferenceUser,
  references: References,
): { readonly texts: ReadonlyMap<string, string>; readonly open: Readonly<Record<string, ValueReference>> } {
  const texts = new Map<string, string>()
  const open: Record<string, ValueReference> = Object.create(null)
  for (const name of places) {
    if (!Object.hasOwn(values, name)) continue
    const piece = references.readText(values[name], `${path}/with/${name}`, user, 'url')
    if (typeof piece === 'string') texts.set(name, piece)
    else if (piece !== undefined) open[name] = piece
  }
  return { texts, open }
}

/** Holds the parts of a request without its references, and those parts in which references stand. */
interface SplitRequest {
  readonly plain: Fields
  readonly template: Omit<RequestTemplate, 'url'>
}

function splitTemplates(
  value: Fields,
  path: string,
  user: ReferenceUser,
  context: SagaContext,
): SplitRequest {
  const { faults, references } = context
  const { headers: given, template } = value
  // Headers that are too many are refused as they are.
  const hasOpenHeaders =
    isRecord(given) && Object.keys(given).length <= HEADERS_MAX && Object.values(given).some(isRecord)
  // Most branches have neither a template nor a reference in a header, and each submit comes through here.
  if (template === undefined && !hasOpenHeaders) return { plain: value, template: {} }
  const { plain: headers, open } = hasOpenHeaders
    ? splitHeaders(given, path, user, context)
    : { plain: given, open: {} }
  const plain = { ...value, headers }
  const parts: Writable<Omit<RequestTemplate, 'url'>> = {}
  if (Object.keys(open).length > 0) parts.headers = open
  if (template !== undefined) {
    if (value.payload !== undefined || value.body !== undefined)
      faults.add('SAGA_INVALID', `${path}/template`, 'excludes payload and body')
    parts.body = references.readTemplate(template, `${path}/template`, user)
  }
  return { plain, template: parts }
}

/** Takes the references out of the headers. A reference to the input becomes a text. */
function splitHeaders(
  value: Fields,
  path: string,
  user: ReferenceUser,
  { faults, references }: SagaContext,
): { readonly plain: unknown; readonly open: Readonly<Record<string, ValueReference>> } {
  const times = countLowerCase(Object.keys(value))
  const plain: [string, unknown][] = []
  const open: Record<string, ValueReference> = Object.create(null)
  for (const [name, text] of Object.entries(value)) {
    const ownPath = `${path}/headers/${pointerStep(name)}`
    const piece = isRecord(text) ? references.readText(text, ownPath, user, 'header') : text
    if (!isRecord(piece)) plain.push([name, piece ?? ''])
    else {
      // The name is checked like that of any other header.
      const [lower] = Object.keys(parseHeaders({ [name]: '' }, `${path}/headers`, faults))
      if (lower === undefined) continue
      if ((times.get(lower) ?? 0) > 1) faults.add('SAGA_HEADER_INVALID', ownPath, 'is given twice')
      open[lower] = piece as unknown as ValueReference
    }
  }
  return { plain: Object.fromEntries(plain), open }
}

function countLowerCase(names: readonly string[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const name of names) {
    const lower = name.toLowerCase()
    times.set(lower, (times.get(lower) ?? 0) + 1)
  }
  return times
}

function refuseExcess(
  headers: Headers,
  open: RequestTemplate['headers'],
  path: string,
  faults: Faults,
): void {
  if (open === undefined) return
  const all = { ...headers, ...Object.fromEntries(Object.keys(open).map((name) => [name, ''])) }
  for (const excess of findExcess(all)) faults.add('SAGA_HEADER_INVALID', path, excess)
}

/** A template whose references are all known is a plain body. */
function applyFixedParts(request: { body: string }, template: Writable<Omit<RequestTemplate, 'url'>>): void {
  const { body } = template
  if (body === undefined) return
  const [text] = body
  if (body.length !== 1 || typeof text !== 'string') return
  request.body = text
  delete template.body
}

function joinTemplates(
  url: RequestTemplate['url'],
  template: Omit<RequestTemplate, 'url'>,
): RequestTemplate | undefined {
  if (url === undefined && template.body === undefined && template.headers === undefined) return undefined
  return url === undefined ? template : { ...template, url }
}

function parseAfter(value: unknown, path: string, faults: Faults): readonly string[] | undefined {
  if (value === undefined) return undefined
  if (!Array.isArray(value) || !value.every((id): id is string => typeof id === 'string')) {
    return faults.add('SAGA_INVALID', path, 'must be a list of branch ids')
  }
  if (value.length > BRANCHES_MAX) {
    return faults.add('SAGA_INVALID', path, `must not be more than ${BRANCHES_MAX}`)
  }
  return value
}
