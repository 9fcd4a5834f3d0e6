import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nodeClock } from '@counterstep/engine'
import { CounterstepError, ERROR_MEANINGS, type ErrorCode, VERSION } from '@counterstep/protocol'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { Breaks, buildApp, OPERATIONS, STATUS_OF_CODE } from '../src/index.ts'
import { buildOpenApiDocument } from '../src/openapi/document.ts'
import {
  confirmedTccExample,
  finishedExample,
  finishedWorkflowExample,
  registeredExample,
} from '../src/openapi/examples.ts'
import { registerBranchOperation } from '../src/routes/register-branch.ts'
import { signalOperation } from '../src/routes/signal.ts'
import { submitPreparedOperation } from '../src/routes/submit-prepared.ts'
import { buildSubmitView, buildView, createScriptedEngine } from './scripted-engine.ts'

interface Media {
  readonly schema: object
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}
interface OperationObject {
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, Media>> }>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

/** The document and the routes are as in `counterstep dev`. No file of the console is there. */
/** No file of this folder is one of a console. */
const PAGES = { console: { directory: () => import.meta.dirname }, breaks: new Breaks(nodeClock()) }

// Counterstep makes the document itself, and the test of OpenAPI 3.1 below checks it as a whole.
const document = buildOpenApiDocument(OPERATIONS, {
  version: '0.1.0',
  url: '/',
  waitMsMax: 60_000,
}) as unknown as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

/** Makes schemas refuse members that are not documented. The real ones allow them, so that clients accept new members. */
function closeSchemas(schemas: Document['components']['schemas']): object {
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    const entries = Object.entries(node).map(([key, value]) => [key, walk(value)])
    const copy = Object.fromEntries(entries)
    return 'properties' in node && !('additionalProperties' in node)
      ? { ...copy, additionalProperties: false }
      : copy
  }
  return Object(walk(schemas))
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
ajv.addSchema({ $id: 'doc:', components: { schemas: closeSchemas(document.components.schemas) } })

function findFaults(schema: object, value: unknown): unknown {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"doc:#/components')
  const validate = ajv.compile(JSON.parse(text))
  return validate(value) ? [] : validate.errors
}

describe('the OpenAPI document', () => {
  it('The OpenAPI document has the version of the package', async () => {
    const manifest = JSON.parse(await readFile(join(import.meta.dirname, '../package.json'), 'utf8'))
    expect(VERSION).toBe(manifest.version)
    const served = await buildApp({ engine: createScriptedEngine() }).inject({ url: '/openapi.json' })
    expect(served.json().info.version).toBe(manifest.version)
  })

  it('The OpenAPI document is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const result = await validator.validate(JSON.parse(JSON.stringify(document)))
    expect(result.errors).toBeUndefined()
    expect(result.valid).toBe(true)
    expect(validator.version).toBe('3.1')
  })

  it('The OpenAPI document and its page are served without anything from elsewhere', async () => {
    const app = buildApp({ engine: createScriptedEngine(), version: '0.1.0', ...PAGES })
    expect((await app.inject({ url: '/openapi.json' })).json()).toEqual(document)
    expect((await app.inject({ url: '/docs/json' })).json()).toEqual(document)
    const page = await app.inject({ url: '/docs' })
    expect(page.statusCode).toBe(200)
    expect(page.headers['content-security-policy']).toContain("default-src 'self'")
    for (const [, source = ''] of page.body.matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect(source).toMatch(/^\/docs\/static\//)
      expect((await app.inject({ url: source })).statusCode).toBe(200)
    }
  })

  it('The OpenAPI document says the longest wait wherever one may wait', async () => {
    for (const [waitMsMax, secondsMax] of [
      [undefined, 60],
      [25_000, 25],
    ] as const) {
      const app = buildApp({
        engine: createScriptedEngine(),
        ...(waitMsMax === undefined ? {} : { waitMsMax }),
      })
      const served = (await app.inject({ url: '/openapi.json' })).body
      const said = [...served.matchAll(/or after N seconds \((.*?)\)/g)].map(([, bounds]) => bounds)
      expect(said).toEqual(Array(3).fill(`0 to ${secondsMax}; more is taken as ${secondsMax}`))
    }
  })

  it('The OpenAPI document has every route that fastify has, and no other', async () => {
    const app: FastifyInstance = buildApp({ engine: createScriptedEngine(), ...PAGES })
    const routes = new Set<string>()
    app.addHook('onRoute', ({ method, url }) => {
      const isPagePart = url.startsWith('/docs/') || url === '/console'
      if (method !== 'HEAD' && !isPagePart)
        routes.add(`${method} ${url.replaceAll(/:(\w+)/g, '{$1}').replace('/*', '/')}`)
    })
    await app.ready()
    expect(routes).toEqual(new Set(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)))
  })

  it('All operations are GET, POST or DELETE', () => {
    for (const { method } of OPERATIONS) expect(['get', 'post', 'delete']).toContain(method)
  })

  it('The OpenAPI document names every code that a route can answer with', () => {
    const named = new Set(OPERATIONS.flatMap(({ problems }) => problems))
    const elsewhere: ErrorCode[] = [
      'SAGA_INTERNAL', // Every route may answer with it.
      'SAGA_STOPPING', // Every route may answer with it.
      'SAGA_ROUTE_UNKNOWN', // It is answered where there is no route.
      'SAGA_METHOD_NOT_ALLOWED', // It is answered where there is no route.
      'SAGA_UNAUTHENTICATED', // The gate answers with it, before every route.
      'SAGA_FORBIDDEN', // The gate answers with it.
      'SAGA_ORIGIN_REFUSED', // The gate answers with it.
      'SAGA_HOST_REFUSED', // The gate answers with it.
      'SAGA_RATE_LIMITED', // The gate answers with it.
      'SAGA_KEYS_UNUSABLE', // A start ends with it.
      'SAGA_LIBRARY_CHANGED', // A start ends with it.
      'SAGA_GRPC_MISSING', // A start ends with it.
      'SAGA_TELEMETRY_MISSING', // A start ends with it.
      'SAGA_STORE_IN_USE', // A start ends with it.
      'SAGA_STORE_NOT_DURABLE', // A start ends with it.
      'SAGA_STORE_SCHEMA', // A start ends with it.
      'SAGA_STORE_UNSUPPORTED', // A start ends with it.
      'SAGA_UNREACHABLE', // The SDK throws it.
      'SAGA_ANSWER_TOO_LARGE', // The SDK throws it.
      'SAGA_NOT_FINAL', // The SDK throws it.
    ]
    expect(new Set([...named, ...elsewhere])).toEqual(new Set(Object.keys(ERROR_MEANINGS)))
  })

  it('The OpenAPI document has no empty schema, and no component that is not used', () => {
    const text = JSON.stringify(document)
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      expect(Object.keys(schema).length, name).toBeGreaterThan(0)
      expect(text, name).toContain(`"#/components/schemas/${name}"`)
    }
    expect(text).not.toContain('readOnly')
    expect(text).not.toContain('$defs')
  })

  for (const { path, method, operation } of operations) {
    it(`The examples of ${method} ${path} fit their schemas`, () => {
      const media = [operation.requestBody, ...Object.values(operation.responses)].flatMap((each) =>
        Object.values(each?.content ?? {}),
      )
      for (const { schema, example, examples } of media) {
        const values = [example, ...Object.values(examples ?? {}).map(({ value }) => value)]
        for (const value of values) if (value !== undefined) expect(findFaults(schema, value)).toEqual([])
      }
    })
  }
})

describe('the answers of every operation', () => {
  const refuse = (code: ErrorCode) => async () => {
    throw new CounterstepError(code, 'the reason')
  }
  const submit: InjectOptions = {
    method: 'POST',
    url: '/v1/transactions',
    headers: { 'content-type': 'application/json' },
    payload: '{}',
  }
  const register: InjectOptions = { ...submit, url: '/v1/transactions/a/branches' }
  const signal: InjectOptions = { ...submit, url: '/v1/transactions/a/signals/approval' }
  const decide: InjectOptions = { method: 'POST', url: '/v1/transactions/a/submit' }
  const summary = buildView('a')
  const BREAK = JSON.stringify({ branchId: '01', next: 0, how: 'late' })
  const item = {
    gid: 'a',
    kind: 'saga',
    status: 'submitted',
    createdAt: 1,
    updatedAt: 1,
    dueAt: 1,
    epoch: 1,
    retrying: false,
    attention: true,
  } as const
  const cases: readonly (readonly [
    string,
    number,
    InjectOptions,
    Parameters<typeof createScriptedEngine>[0],
  ])[] = [
    ['/v1/transactions', 202, submit, { submit: async () => buildSubmitView('a') }],
    ['/v1/transactions', 200, submit, { submit: async () => ({ ...finishedExample, ack: 'memory' }) }],
    ['/v1/transactions', 400, { ...submit, payload: '{' }, {}],
    ['/v1/transactions', 413, { ...submit, payload: 'x'.repeat(2 ** 20 + 1) }, {}],
    ['/v1/transactions', 415, { ...submit, headers: { 'content-type': 'text/plain' } }, {}],
    ...(OPERATIONS[0]?.problems.map(
      (code) => ['/v1/transactions', STATUS_OF_CODE[code], submit, { submit: refuse(code) }] as const,
    ) ?? []),
    ['/v1/transactions', 500, submit, { submit: refuse('SAGA_INTERNAL') }],
    ['/v1/transactions', 200, { url: '/v1/transactions' }, { list: async () => ({ items: [item] }) }],
    ['/v1/transactions', 400, { url: '/v1/transactions?limit=x' }, {}],
    ['/v1/transactions/{gid}', 200, { url: '/v1/transactions/a' }, { get: async () => finishedExample }],
    [
      '/v1/transactions/{gid}',
      200,
      { url: '/v1/transactions/a' },
      { get: async () => finishedWorkflowExample },
    ],
    ['/v1/transactions/{gid}', 404, { url: '/v1/transactions/a' }, { get: async () => undefined }],
    ['/v1/transactions/{gid}', 400, { url: '/v1/transactions/%20' }, {}],
    ...(['abort', 'retry', 'stop'] as const).flatMap((verb) => {
      const path = `/v1/transactions/{gid}/${verb}`
      const call: InjectOptions = { method: 'POST', url: `/v1/transactions/a/${verb}` }
      const final = async () => ({ ...summary, status: 'stopped' as const })
      return [
        [path, 202, call, {}],
        [path, 200, call, { [verb]: final }],
        [path, 409, call, { [verb]: refuse('SAGA_ALREADY_FINAL') }],
        [path, 404, call, { [verb]: refuse('SAGA_UNKNOWN_GID') }],
        [path, 503, call, { [verb]: refuse('SAGA_CONTENDED') }],
        [
          path,
          422,
          { ...call, headers: { 'content-type': 'application/json' }, payload: '{"force":true}' },
          {},
        ],
      ] as const
    }),
    ...registerBranchOperation.problems.map(
      (code) =>
        [
          registerBranchOperation.path,
          STATUS_OF_CODE[code],
          register,
          { registerBranch: refuse(code) },
        ] as const,
    ),
    [registerBranchOperation.path, 200, register, { registerBranch: async () => registeredExample }],
    ...submitPreparedOperation.problems.map(
      (code) =>
        [
          submitPreparedOperation.path,
          STATUS_OF_CODE[code],
          decide,
          { submitPrepared: refuse(code) },
        ] as const,
    ),
    [submitPreparedOperation.path, 202, decide, {}],
    [submitPreparedOperation.path, 200, decide, { submitPrepared: async () => confirmedTccExample }],
    ...signalOperation.problems.map(
      (code) => [signalOperation.path, STATUS_OF_CODE[code], signal, { signal: refuse(code) }] as const,
    ),
    [signalOperation.path, 200, signal, {}],
    ['/v1/overview', 200, { url: '/v1/overview' }, {}],
    ['/v1/services', 200, { url: '/v1/services' }, {}],
    ['/v1/names', 200, { url: '/v1/names' }, {}],
    ['/v1/views', 200, { url: '/v1/views' }, {}],
    ['/v1/views', 200, { ...submit, url: '/v1/views', payload: '{"name":"a","filter":"retrying=true"}' }, {}],
    ['/v1/views', 422, { ...submit, url: '/v1/views' }, {}],
    ['/v1/views/{id}', 200, { method: 'DELETE', url: '/v1/views/a' }, {}],
    ['/v1/panels', 200, { url: '/v1/panels' }, {}],
    ['/v1/panels/{id}', 404, { url: '/v1/panels/keys' }, {}],
    ['/v1/live', 404, { url: '/v1/live?topics=fresh' }, {}],
    ['/v1/live', 400, { url: '/v1/live' }, {}],
    ['/', 200, { url: '/' }, {}],
    ['/health/live', 200, { url: '/health/live' }, {}],
    ['/health/ready', 200, { url: '/health/ready' }, {}],
    ['/openapi.json', 200, { url: '/openapi.json' }, {}],
    ['/metrics', 200, { url: '/metrics' }, {}],
    ['/docs', 200, { url: '/docs' }, {}],
    ['/v1/session', 200, { url: '/v1/session' }, {}],
    ['/v1/session', 200, { method: 'DELETE', url: '/v1/session' }, {}],
    ['/v1/session', 200, { ...submit, url: '/v1/session', payload: '{"key":"k"}' }, {}],
    ['/v1/session', 422, { ...submit, url: '/v1/session' }, {}],
    ['/console/', 404, { url: '/console/' }, {}],
    ['/v1/dev', 200, { url: '/v1/dev' }, {}],
    ['/v1/dev/break', 200, { ...submit, url: '/v1/dev/break', payload: BREAK }, {}],
    ['/v1/dev/break', 422, { ...submit, url: '/v1/dev/break' }, {}],
  ]
  for (const [path, status, options, script] of cases) {
    it(`An answer fits the document: ${options.method ?? 'GET'} ${path} ${status}`, async () => {
      const answer = await buildApp({ engine: createScriptedEngine(script), ...PAGES }).inject(options)
      expect(answer.statusCode).toBe(status)
      const contentType = String(answer.headers['content-type']).split(';')[0] ?? ''
      const method = (options.method ?? 'get').toLowerCase()
      const media = document.paths[path]?.[method]?.responses[status]?.content[contentType]
      expect(media, `${status} ${contentType} is documented`).toBeDefined()
      const value = contentType.endsWith('json') ? answer.json() : answer.body
      expect(findFaults(media?.schema ?? {}, value)).toEqual([])
    })
  }
})
