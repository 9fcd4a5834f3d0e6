import { type DocumentedOperation, pathOf, type ServerDocument } from './open-api.ts'
import type { WireAnswer, WireRequest } from './wire-request.ts'

/** HTTP's own refusals, before there is a route: any request may meet them. */
const BEFORE_ANY_ROUTE: ReadonlySet<number> = new Set([400, 408, 413, 414, 417, 431])
const NO_ROUTE: ReadonlySet<number> = new Set([...BEFORE_ANY_ROUTE, 404, 405])
const PROBLEM_TYPE = 'application/problem+json'
const PROBLEM = { $ref: '#/components/schemas/Problem' }

export type Nature = 'valid' | 'near-valid' | 'rubbish'

/** What is wrong with an answer by the server's own document. Empty: nothing. */
export function faultsOfAnswer(
  document: ServerDocument,
  nature: Nature,
  request: WireRequest,
  answer: WireAnswer,
): readonly string[] {
  // Files of the page, which no document lists.
  if (pathOf(request.target).startsWith('/docs/')) return answer.status < 500 ? [] : ['the page broke']
  const found = document.operationAt(request.method, request.target)
  const said = `${answer.status} ${answer.contentType} ${answer.body.toString('utf8').slice(0, 400)}`
  const faults = [
    ...statusFaults(nature, found, answer),
    ...bodyFaults(document, found, request, answer),
    ...(found === undefined ? [] : takenFaults(document, found, request, answer)),
  ]
  return faults.map((fault) => `${fault} (${said})`)
}

function statusFaults(
  nature: Nature,
  found: DocumentedOperation | undefined,
  { status, headers }: WireAnswer,
): readonly string[] {
  if (status === 500) return ['it broke']
  if (status === 503 && headers['retry-after'] === undefined) return ['a 503 without Retry-After']
  if (found === undefined) return NO_ROUTE.has(status) ? [] : ['an answer where nothing is documented']
  if (nature === 'valid' && status >= 400 && status !== 404 && status !== 409)
    return ['a valid request was refused']
  const isDocumented = String(status) in found.operation.responses || BEFORE_ANY_ROUTE.has(status)
  return isDocumented ? [] : ['a status that is not documented']
}

function bodyFaults(
  document: ServerDocument,
  found: DocumentedOperation | undefined,
  { method }: WireRequest,
  { status, contentType, body }: WireAnswer,
): readonly string[] {
  if (method === 'HEAD') return body.length === 0 ? [] : ['a HEAD with a body']
  if (status >= 400) {
    if (contentType !== PROBLEM_TYPE) return ['an error that is no problem']
    const problem: unknown = JSON.parse(body.toString('utf8'))
    return [
      ...document.judge.faultsOf(PROBLEM, problem),
      ...(isProblemOf(problem, status) ? [] : ['a problem of another status, or without a stable code']),
    ]
  }
  const media = found?.operation.responses[status]?.content[contentType]
  if (media === undefined) return ['a content type that is not documented']
  if (!contentType.endsWith('json')) return []
  return document.judge.faultsOf(media.schema, JSON.parse(body.toString('utf8')))
}

function isProblemOf(problem: unknown, status: number): boolean {
  if (typeof problem !== 'object' || problem === null) return false
  if (!('status' in problem) || !('code' in problem)) return false
  return problem.status === status && /^SAGA_[A-Z_]+$/.test(String(problem.code))
}

/** What the document does not allow must not be taken. What it allows may still be refused by a rule that it only tells. */
function takenFaults(
  document: ServerDocument,
  { operation }: DocumentedOperation,
  { headers, body, target }: WireRequest,
  { status }: WireAnswer,
): readonly string[] {
  if (status >= 400) return []
  const coded = headers.some(([name, value]) => name === 'content-encoding' && value !== 'identity')
  const query = [
    ...queryFaults(document, operation.parameters ?? [], target),
    ...(coded && body.trim() !== '' ? ['a coded body was taken for a plain one'] : []),
  ]
  const schema = operation.requestBody?.content['application/json']?.schema
  if (schema === undefined || body.trim() === '') return query
  const parsed = parsedJson(Buffer.from(body, 'latin1').toString('utf8'))
  if (parsed === undefined) return [...query, 'what is no JSON was taken']
  return [...query, ...document.judge.faultsOf(schema, parsed.value).map((fault) => `taken, though ${fault}`)]
}

/** Of what is repeated or unknown, and of numbers and words; what Node and URL read differently is left out. */
function queryFaults(
  { judge }: ServerDocument,
  parameters: NonNullable<DocumentedOperation['operation']['parameters']>,
  target: string,
): readonly string[] {
  const known = new Map(parameters.filter((each) => each.in === 'query').map((each) => [each.name, each]))
  if (known.size === 0) return []
  const query = new URLSearchParams(target.split('?').slice(1).join('?'))
  return [...new Set(query.keys())].flatMap((name) => {
    const schema = known.get(name)?.schema
    if (schema === undefined) return [`taken, though there is no parameter ${JSON.stringify(name)}`]
    const texts = query.getAll(name)
    if (schema.type === 'array') {
      return judge
        .faultsOf(
          schema,
          texts.flatMap((text) => text.split(',')),
        )
        .map((fault) => `taken, ${fault}`)
    }
    if (texts.length > 1) return [`taken, though ${name} is repeated`]
    return judge.faultsOf(schema, typedOf(schema.type, texts[0] ?? '')).map((fault) => `taken, ${fault}`)
  })
}

function typedOf(type: string | undefined, text: string): unknown {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text
}

function parsedJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch (error: unknown) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
