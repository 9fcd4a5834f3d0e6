import type { RouteAccess } from '@counterstep/access'
import type { ErrorCode } from '@counterstep/protocol'
import { buildProblem } from '../http/problem.ts'
import { RETRY_AFTER_SECONDS } from '../http/send-problem.ts'
import { STATUS_OF_CODE } from '../http/status-of-code.ts'
import { toStatusText } from '../http/status-text.ts'
import { buildPreferParameter } from '../routes/prefer-parameter.ts'
import type { Answer, JsonObject, Operation } from './operation.ts'
import { buildSchemaComponents } from './schema-components.ts'

const COMMON_PROBLEMS: readonly ErrorCode[] = ['SAGA_INTERNAL', 'SAGA_STOPPING']
const GATE_PROBLEMS: readonly ErrorCode[] = [
  'SAGA_UNAUTHENTICATED',
  'SAGA_FORBIDDEN',
  'SAGA_HOST_REFUSED',
  'SAGA_RATE_LIMITED',
]

const API_KEY = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key is needed where the server has a file of keys. `counterstep keys create` makes one.',
}

export interface DocumentedApi {
  readonly version: string
  readonly url: string
  readonly waitMsMax: number
}

/** Builds the OpenAPI 3.1 document of these operations from their schemas, without a generator in between. */
export function buildOpenApiDocument(
  operations: readonly Operation[],
  { version, url, waitMsMax }: DocumentedApi,
): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const operation of operations) {
    const path = paths[operation.path] ?? {}
    path[operation.method] = toOperationObject(operation, waitMsMax)
    paths[operation.path] = path
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Counterstep',
      version,
      description:
        'Distributed transactions over HTTP. Every error is a problem (RFC 9457) with a stable code.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url }],
    tags: [
      { name: 'transactions', description: 'Submit, read and command transactions.' },
      { name: 'operations', description: 'Health, metrics and this document.' },
    ],
    paths,
    components: { schemas: buildSchemaComponents(), securitySchemes: { apiKey: API_KEY } },
  }
}

function toOperationObject(operation: Operation, waitMsMax: number): JsonObject {
  const { id, tag, access, method, summary, description, body, answers, problems } = operation
  const parameters = listParameters(operation, waitMsMax)
  const answerEntries = Object.entries(answers).map(([status, answer]) => [status, toAnswerObject(answer)])
  return {
    operationId: id,
    tags: [tag],
    summary,
    security: toSecurity(access),
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: toRequestObject(body) }),
    responses: {
      ...toProblemObjects([...problems, ...listGateProblems(access, method), ...COMMON_PROBLEMS]),
      ...Object.fromEntries(answerEntries),
    },
  }
}

function listParameters(
  { parameters = [], takesPrefer }: Operation,
  waitMsMax: number,
): readonly JsonObject[] {
  return takesPrefer === true ? [...parameters, buildPreferParameter(waitMsMax)] : parameters
}

/** Allows a key with one of the scopes, or no key, since a server on loopback may have none. */
function toSecurity(access: RouteAccess): readonly JsonObject[] {
  if (access === 'open') return []
  return 'all' in access
    ? [{ apiKey: access.all }, {}]
    : [...access.map((scope) => ({ apiKey: [scope] })), {}]
}

function listGateProblems(access: RouteAccess, method: Operation['method']): readonly ErrorCode[] {
  const browserProblems: readonly ErrorCode[] = method === 'get' ? [] : ['SAGA_ORIGIN_REFUSED']
  return access === 'open' ? browserProblems : [...GATE_PROBLEMS, ...browserProblems]
}

function toRequestObject({ schema, required, examples }: NonNullable<Operation['body']>): JsonObject {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }])
  const content = { schema: toReference(schema), examples: Object.fromEntries(named) }
  return { required, content: { 'application/json': content } }
}

function toAnswerObject(answer: Answer): JsonObject {
  if ('contentType' in answer) {
    const content = { [answer.contentType]: { schema: { type: 'string' } } }
    return { description: answer.description, content }
  }
  const { description, schema, example, headers } = answer
  const headerEntries = Object.entries(headers ?? {}).map(([name, text]) => [
    name,
    { description: text, schema: { type: 'string' } },
  ])
  return {
    description,
    ...(headers === undefined ? {} : { headers: Object.fromEntries(headerEntries) }),
    content: toJsonContent(schema, example),
  }
}

function toJsonContent(schema: string, example: unknown): JsonObject {
  return { 'application/json': { schema: toReference(schema), example } }
}

/** Builds one response for each status. The response has one example for each code with this status. */
function toProblemObjects(codes: readonly ErrorCode[]): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set(codes)) {
    const status = STATUS_OF_CODE[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const responses = [...byStatus].map(([status, sharers]) => {
    const examples = sharers.map((code) => [
      code,
      { value: buildProblem(code, { detail: 'why, for people' }) },
    ])
    return [
      status,
      {
        description: toStatusText(status),
        ...buildHeaders(status),
        content: {
          'application/problem+json': {
            schema: toReference('Problem'),
            examples: Object.fromEntries(examples),
          },
        },
      },
    ]
  })
  return Object.fromEntries(responses)
}

function buildHeaders(status: number): JsonObject {
  if (status !== 503 && status !== 429) return {}
  const description = 'Seconds after which to ask again.'
  const schema = { type: 'integer', examples: [RETRY_AFTER_SECONDS] }
  return { headers: { 'Retry-After': { description, schema } } }
}

function toReference(schema: string): JsonObject {
  return { $ref: `#/components/schemas/${schema}` }
}
