import type { RouteAccess } from '@counterstep/access'
import type { ErrorCode } from '@counterstep/protocol'
import { NAMED_SCHEMAS } from '@counterstep/protocol/schemas'
import * as z from 'zod'
import { problemOf } from '../http/problem.ts'
import { RETRY_AFTER_SECONDS } from '../http/send-problem.ts'
import { STATUS_OF_CODE } from '../http/status-of-code.ts'
import { statusText } from '../http/status-text.ts'
import { preferParameter } from '../routes/prefer-parameter.ts'
import type { Answer, JsonObject, Operation } from './operation.ts'

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
  description: 'An API key, where the server has a file of keys. Made by `counterstep keys create`.',
}

export interface DocumentedFace {
  readonly version: string
  readonly url: string
  readonly waitMsMax: number
}

/** The OpenAPI 3.1 document of these operations. Built by hand: there is no generator between it and the schemas. */
export function openApiDocument(
  operations: readonly Operation[],
  { version, url, waitMsMax }: DocumentedFace,
): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const operation of operations) {
    const path = paths[operation.path] ?? {}
    path[operation.method] = operationObject(operation, waitMsMax)
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
      { name: 'transactions', description: 'Submit, look at and command transactions.' },
      { name: 'operations', description: 'Health, metrics and this document.' },
    ],
    paths,
    components: { schemas: schemaComponents(), securitySchemes: { apiKey: API_KEY } },
  }
}

function operationObject(operation: Operation, waitMsMax: number): JsonObject {
  const { id, tag, access, method, summary, description, body, answers, problems } = operation
  const parameters = parametersOf(operation, waitMsMax)
  const answerEntries = Object.entries(answers).map(([status, answer]) => [status, answerObject(answer)])
  return {
    operationId: id,
    tags: [tag],
    summary,
    security: securityOf(access),
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestObject(body) }),
    responses: {
      ...problemObjects([...problems, ...gateProblems(access, method), ...COMMON_PROBLEMS]),
      ...Object.fromEntries(answerEntries),
    },
  }
}

function parametersOf({ parameters = [], takesPrefer }: Operation, waitMsMax: number): readonly JsonObject[] {
  return takesPrefer === true ? [...parameters, preferParameter(waitMsMax)] : parameters
}

/** One of the scopes, or nothing: a server on loopback may have no keys. */
function securityOf(access: RouteAccess): readonly JsonObject[] {
  return access === 'open' ? [] : [...access.map((scope) => ({ apiKey: [scope] })), {}]
}

function gateProblems(access: RouteAccess, method: Operation['method']): readonly ErrorCode[] {
  const ofBrowsers: readonly ErrorCode[] = method === 'get' ? [] : ['SAGA_ORIGIN_REFUSED']
  return access === 'open' ? ofBrowsers : [...GATE_PROBLEMS, ...ofBrowsers]
}

function requestObject({ schema, required, examples }: NonNullable<Operation['body']>): JsonObject {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }])
  const content = { schema: reference(schema), examples: Object.fromEntries(named) }
  return { required, content: { 'application/json': content } }
}

function answerObject(answer: Answer): JsonObject {
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
    content: jsonContent(schema, example),
  }
}

function jsonContent(schema: string, example: unknown): JsonObject {
  return { 'application/json': { schema: reference(schema), example } }
}

/** One response for each status, with one example for each code that has it. */
function problemObjects(codes: readonly ErrorCode[]): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set(codes)) {
    const status = STATUS_OF_CODE[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const responses = [...byStatus].map(([status, sharers]) => {
    const examples = sharers.map((code) => [code, { value: problemOf(code, { detail: 'why, for people' }) }])
    return [
      status,
      {
        description: statusText(status),
        ...headersOf(status),
        content: {
          'application/problem+json': {
            schema: reference('Problem'),
            examples: Object.fromEntries(examples),
          },
        },
      },
    ]
  })
  return Object.fromEntries(responses)
}

function headersOf(status: number): JsonObject {
  if (status !== 503 && status !== 429) return {}
  const description = 'Seconds after which to ask again.'
  const schema = { type: 'integer', examples: [RETRY_AFTER_SECONDS] }
  return { headers: { 'Retry-After': { description, schema } } }
}

function reference(schema: string): JsonObject {
  return { $ref: `#/components/schemas/${schema}` }
}

/** The named schemas as JSON Schema 2020-12, which is what OpenAPI 3.1 speaks, each referring to the others by name. */
function schemaComponents(): JsonObject {
  // A registry of our own: ids in zod's global one appear twice, as `X` and `XInput`, and would mix with the host's.
  const registry = z.registry<{ readonly id: string }>()
  for (const [id, schema] of Object.entries(NAMED_SCHEMAS)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    target: 'draft-2020-12',
    io: 'input',
    metadata: z.globalRegistry,
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      // From .readonly(), which is about TypeScript; in OpenAPI it would mean "never in a request".
      delete jsonSchema.readOnly
    },
  })
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutDialect(schema)]))
}

function withoutDialect({ $schema: _, $id: __, ...schema }: z.core.JSONSchema.BaseSchema): JsonObject {
  return schema
}
