import fc from 'fast-check'
import type { DocumentedOperation, ServerDocument } from '../../src/fuzz/open-api.ts'
import { arbitraryOf, type ByName } from './schema-arbitrary.ts'

/** A request before it is written down, so that one thing of it can still be changed. */
export interface Draft {
  readonly method: string
  /** Segments of the path, not yet encoded. */
  readonly segments: readonly string[]
  readonly query: readonly (readonly [string, string])[]
  readonly headers: readonly (readonly [string, string])[]
  readonly json: unknown
}

export interface Surroundings {
  /** Where a branch answers 200. No request names any other host. */
  readonly branchUrl: string
  /** Transactions that are there. */
  readonly gids: readonly string[]
}

const GID_UNITS = 'abcdefghijklmnopqrstuvwxyzABCXYZ0123456789._:-!#$%&()*+,/<=>?@[]^`{|}~'

export function validRequest(
  { operations, judge }: ServerDocument,
  { branchUrl, gids }: Surroundings,
): fc.Arbitrary<Draft> {
  const url = fc.constantFrom('action', 'undo', 'a/b?x=1').map((path) => `${branchUrl}/${path}`)
  const freshGid = fc
    .tuple(fc.string({ unit: fc.constantFrom(...GID_UNITS), maxLength: 60 }), fc.uuid())
    .map(([text, unique]) => `f${text}${unique}`)
  const headers = fc.dictionary(
    fc.stringMatching(/^x-[a-z]{1,8}$/),
    fc.string({ unit: fc.constantFrom(...'abc XYZ,;=/"') }).map((text) => `v${text}v`),
    { maxKeys: 4 },
  )
  const urls = { action: url, compensation: url, confirm: url, cancel: url, url }
  const contentType = fc.constantFrom('text/plain', 'application/xml; charset=utf-8')
  // A wait is bounded, and so is what one request may take.
  const byName: ByName = { ...urls, headers, contentType, gid: freshGid }
  const knownGid = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...gids) }, freshGid)
  const ofOperations = operations.map((found) => ({
    weight: weightOf(found),
    arbitrary: draftOf(found, judge, byName, knownGid),
  }))
  return fc.oneof(...ofOperations)
}

/** Most can go wrong where there is a body, and more where there is a query than where there is nothing. */
function weightOf({ operation }: DocumentedOperation): number {
  if (operation.requestBody !== undefined) return 10
  return operation.parameters === undefined ? 1 : 3
}

function draftOf(
  { method, template, operation }: DocumentedOperation,
  judge: ServerDocument['judge'],
  byName: ByName,
  gid: fc.Arbitrary<string>,
): fc.Arbitrary<Draft> {
  const { parameters = [], requestBody } = operation
  const query = fc
    .tuple(
      ...parameters
        .filter((each) => each.in === 'query' && each.name !== 'cursor')
        .map(({ name, schema }) =>
          fc.option(
            arbitraryOf(schema, judge, {}).map((value) => [[name, String(value)] as const]),
            { nil: [], freq: 1 },
          ),
        ),
    )
    // An empty list is a parameter that is not there.
    .map((pairs) => pairs.flat().filter(([, text]) => text !== ''))
  const takesPrefer = parameters.some((each) => each.name === 'Prefer')
  const prefer = fc.oneof(
    { weight: 19, arbitrary: fc.constantFrom<Draft['headers']>([], [['prefer', 'wait=0']]) },
    { weight: 1, arbitrary: fc.constant<Draft['headers']>([['prefer', 'wait=1']]) },
  )
  const schema = requestBody?.content['application/json']?.schema
  const body =
    schema === undefined ? fc.constant(undefined) : arbitraryOf(schema, judge, byName).map(coherent)
  const isOptional = requestBody?.required === false
  return fc.record({
    method: fc.constant(method),
    segments: gid.map((text) => template.split('/').map((part) => (part === '{gid}' ? text : part))),
    query,
    headers: takesPrefer ? prefer : fc.constant([]),
    json: isOptional ? fc.option(body, { nil: undefined }) : body,
  })
}

/** The rules between members that a schema cannot say: what excludes what, and which names must be there. */
function coherent(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { branches, ...rest } = value as Readonly<Record<string, unknown>>
  const one = coherentMember(rest)
  if (!Array.isArray(branches)) return one
  return {
    ...one,
    branches: branches.map((branch: Readonly<Record<string, unknown>>, index) => {
      const { after, id: _, ...kept } = branch
      const before = index === 0 ? [] : [`b${index - 1}`]
      return { ...coherentMember(kept), id: `b${index}`, ...(after === undefined ? {} : { after: before }) }
    }),
  }
}

function coherentMember(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { body, payload, contentType, retry, ...rest } = value
  const content =
    body === undefined
      ? payload === undefined
        ? {}
        : { payload }
      : { body, ...(contentType === undefined ? {} : { contentType }) }
  return { ...rest, ...content, ...(retry === undefined ? {} : { retry: coherentRetry(retry) }) }
}

/** The cap is not below the first wait, wherever that comes from. */
function coherentRetry(retry: unknown): unknown {
  const given = retry as { readonly initialMs?: number; readonly capMs?: number }
  const { capMs } = given
  return capMs === undefined ? retry : { ...given, initialMs: Math.min(given.initialMs ?? capMs, capMs) }
}
