import {
  buildLoopbackHostRule,
  createGate,
  type Gate,
  isGranted,
  KeyRate,
  type RouteAccess,
  readBearerKey,
  SCOPES,
} from '@counterstep/access'
import { nodeClock } from '@counterstep/engine'
import type { FastifyInstance, InjectOptions, RouteOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Breaks, buildApp, OPERATIONS } from '../src/index.ts'
import { openScopeKeys, type ScopeKeys } from './scope-keys.ts'
import { createScriptedEngine, READY, type ScriptedEngine } from './scripted-engine.ts'

interface Route {
  readonly method: string
  readonly url: string
  readonly access: RouteAccess | undefined
}

/** The routes are as in `counterstep dev`. No file of the console is there. */
const PAGES = { console: { directory: () => '/nowhere' }, breaks: new Breaks(nodeClock()) }
/** These change sessions, breaks, jobs or nothing, and no transaction. */
const OTHER_CHANGES = [
  'POST /v1/session',
  'DELETE /v1/session',
  'POST /v1/dev/break',
  'POST /v1/bulk',
  'POST /v1/views',
  'DELETE /v1/views/:id',
  'POST /v1/bulk/:id/pause',
  'POST /v1/bulk/:id/resume',
  'POST /v1/bulk/:id/cancel',
  'POST /v1/transactions/:gid/preview',
]

let held: ScopeKeys
beforeAll(async () => {
  held = await openScopeKeys()
})
afterAll(() => held[Symbol.asyncDispose]())

function buildKeyedApp(): { app: FastifyInstance; engine: ScriptedEngine } {
  const engine = createScriptedEngine()
  const gate = createGate({ keys: held.ring, credentials: readBearerKey })
  return { app: buildApp({ engine, gate, ...PAGES }), engine }
}

/** Returns the route table as fastify has it, with HEAD and the parts of the page. */
async function listRoutes(app: FastifyInstance): Promise<readonly Route[]> {
  const seen: RouteOptions[] = []
  app.addHook('onRoute', (route) => void seen.push(route))
  await app.ready()
  // The routes are read after all hooks have run, because these change them.
  return seen.flatMap(({ method, url, config }) =>
    [method].flat().map((each) => ({ method: each, url, access: config?.access })),
  )
}

function buildRequest({ method, url }: Route, key?: string): InjectOptions {
  return {
    method: method as 'GET',
    url: url.replace(':gid', 'a').replace(':branchId', '01').replace(':op', 'action').replace('*', 'x'),
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
    },
    ...(method === 'POST' ? { payload: '{}' } : {}),
  }
}

/**
 * Lists, a line each, the requests that a gate lets through but should not, and those that it refuses but should not.
 */
async function findScopeFaults(gate: Gate): Promise<readonly string[]> {
  const faults: string[] = []
  const routes = await listRoutes(buildApp({ engine: createScriptedEngine(), ...PAGES }))
  // The routes include HEAD for each GET, and the parts of the page.
  expect(routes.length).toBeGreaterThan(OPERATIONS.length * 1.5)
  const engine = createScriptedEngine()
  const app = buildApp({ engine, gate, ...PAGES })
  const check = async (route: Route, key: string | undefined, expected: number | 'passes') => {
    const callsBefore = engine.calls.length
    const answer = await app.inject(buildRequest(route, key))
    const { statusCode } = answer
    const isRefused = [401, 403, 429].includes(statusCode)
    const isAsExpected =
      expected === 'passes' ? !isRefused : statusCode === expected && engine.calls.length === callsBefore
    if (!isAsExpected) faults.push(`${route.method} ${route.url}: ${statusCode} instead of ${expected}`)
    if (statusCode === 401) expect(answer.headers['www-authenticate']).toBe('Bearer realm="counterstep"')
  }
  for (const route of routes) {
    const { access } = route
    for (const scope of SCOPES) {
      const isAllowed =
        access === 'open' || (access !== undefined && isGranted(access, (each) => each === scope))
      await check(route, held.keys[scope], isAllowed ? 'passes' : 403)
    }
    for (const key of [undefined, 'cs_unknown', `${held.keys.admin.slice(0, -1)}!`])
      await check(route, key, access === 'open' ? 'passes' : 401)
  }
  return faults
}

/** The clock of this gate goes on a second with each request, so that no rate is reached. */
function createKeyedGate(): Gate {
  let nowMs = 0
  const tick = () => {
    nowMs += 1_000
    return nowMs
  }
  return createGate({
    keys: held.ring,
    credentials: readBearerKey,
    hosts: buildLoopbackHostRule([]),
    nowMs: tick,
  })
}

function changeAccess(gate: Gate, toAccess: (access: RouteAccess) => RouteAccess): Gate {
  return { ...gate, buildGuard: (access, changesState) => gate.buildGuard(toAccess(access), changesState) }
}

describe('S11: every route of the table', () => {
  it('A route accepts each scope that it declares, refuses the others with 403, and no key or a bad one with 401', async () => {
    expect(await findScopeFaults(createKeyedGate())).toEqual([])
  })

  const MUTANTS: readonly (readonly [string, (gate: Gate) => Gate])[] = [
    ['needs no key', () => createGate({ credentials: readBearerKey })],
    [
      'takes any scope for any other',
      (gate) => changeAccess(gate, (access) => (access === 'open' ? access : SCOPES)),
    ],
    ['has every route open', (gate) => changeAccess(gate, () => 'open')],
  ]
  for (const [what, mutate] of MUTANTS) {
    it(`The check of scopes finds out a gate that ${what} (mutant)`, async () => {
      expect((await findScopeFaults(mutate(createKeyedGate()))).length).toBeGreaterThan(5)
    })
  }

  it('The routes declare the scopes that are written here', () => {
    const declared = OPERATIONS.map(({ method, path, access }) => [`${method} ${path}`, access])
    expect(Object.fromEntries(declared)).toEqual({
      'post /v1/transactions': ['submit'],
      'get /v1/transactions': ['read'],
      'get /v1/transactions/{gid}': ['read'],
      'post /v1/transactions/{gid}/branches': ['submit'],
      'post /v1/transactions/{gid}/submit': ['submit'],
      'post /v1/transactions/{gid}/signals/{name}': ['signal'],
      'post /v1/transactions/{gid}/abort': ['submit', 'operate', 'admin'],
      'post /v1/transactions/{gid}/retry': ['operate', 'admin'],
      'post /v1/transactions/{gid}/stop': ['admin'],
      'get /v1/problems': ['read'],
      'post /v1/transactions/{gid}/pause': ['operate', 'admin'],
      'post /v1/transactions/{gid}/resume': ['operate', 'admin'],
      'post /v1/transactions/{gid}/ops/{branchId}/{op}/retry': ['operate', 'admin'],
      'post /v1/transactions/{gid}/ops/{branchId}/{op}/skip': ['admin'],
      'post /v1/transactions/{gid}/ops/{branchId}/{op}/edit': { all: ['admin', 'payloads'] },
      'post /v1/transactions/{gid}/preview': ['read'],
      'get /v1/transactions/{gid}/request': ['payloads'],
      'get /v1/session': [...SCOPES],
      'post /v1/session': 'open',
      'delete /v1/session': [...SCOPES],
      'post /v1/bulk': ['operate', 'admin'],
      'get /v1/bulk': ['read'],
      'get /v1/bulk/{id}': ['read'],
      'post /v1/bulk/{id}/pause': ['operate', 'admin'],
      'post /v1/bulk/{id}/resume': ['operate', 'admin'],
      'post /v1/bulk/{id}/cancel': ['operate', 'admin'],
      'get /v1/overview': ['read'],
      'get /v1/services': ['read'],
      'get /v1/names': ['read'],
      'get /v1/panels': ['read', 'admin'],
      'get /v1/panels/{id}': ['read', 'admin'],
      'get /v1/views': ['read'],
      'post /v1/views': ['operate', 'admin'],
      'delete /v1/views/{id}': ['operate', 'admin'],
      'get /v1/live': ['read'],
      'get /': ['read'],
      'get /health/live': 'open',
      'get /health/ready': 'open',
      'get /metrics': ['read'],
      'get /openapi.json': ['read'],
      'get /docs': ['read'],
      'get /console/': 'open',
      'get /v1/dev': ['read'],
      'post /v1/dev/break': ['operate'],
    })
  })

  it('A route that does not declare who may use it keeps the app from getting ready', async () => {
    const { app } = buildKeyedApp()
    app.get('/forgotten', () => 'open to all')
    await expect(app.ready()).rejects.toThrow('the route GET /forgotten does not say who may use it')
    const nested = buildKeyedApp().app
    nested.register(async (scope) => {
      scope.post('/v1/forgotten', () => 'open to all')
    })
    await expect(nested.ready()).rejects.toThrow('/v1/forgotten')
  })
})

describe('S11: a refusal', () => {
  it('A refusal comes before the body is read, and does not quote the key', async () => {
    const { app, engine } = buildKeyedApp()
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/transactions',
      headers: { authorization: `Bearer ${held.keys.read}`, 'content-type': 'nonsense' },
      payload: 'x'.repeat(2 ** 20 + 1),
    })
    expect(answer.statusCode).toBe(403)
    expect(answer.json()).toMatchObject({ code: 'SAGA_FORBIDDEN', detail: expect.stringContaining('submit') })
    expect(answer.body).not.toContain(held.keys.read)
    expect(engine.calls).toEqual([])
  })

  it('S17: The eleventh bad request of an address in a second is answered with 429 and Retry-After', async () => {
    const engine = createScriptedEngine()
    const gate = createGate({ keys: held.ring, credentials: readBearerKey, nowMs: () => 1_000 })
    const app = buildApp({ engine, gate })
    for (let count = 0; count < 10; count += 1) await app.inject({ url: '/v1/transactions' })
    const answer = await app.inject({ url: '/v1/transactions' })
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '1'])
    expect(answer.json().code).toBe('SAGA_RATE_LIMITED')
  })
})

describe('S17: the rate of a key', () => {
  it('A request counts once for the rate of its key, HEAD too, and the one over it is answered with 429 and Retry-After', async () => {
    const keyRate = new KeyRate(2)
    const gate = createGate({ keys: held.ring, credentials: readBearerKey, keyRate, nowMs: () => 1_000 })
    const app = buildApp({ engine: createScriptedEngine(), gate })
    const ask = (method: 'HEAD' | 'GET') =>
      app.inject({ method, url: '/v1/transactions', headers: { authorization: `Bearer ${held.keys.read}` } })
    expect([(await ask('HEAD')).statusCode, (await ask('GET')).statusCode]).toEqual([200, 200])
    const over = await ask('GET')
    expect([over.statusCode, over.headers['retry-after']]).toEqual([429, '1'])
  })
})

describe('GET /health/ready with keys', () => {
  it('Readiness shows the store and the weak points to a key with the scope read, and the outcome alone to others', async () => {
    const gate = createGate({ keys: held.ring, credentials: readBearerKey })
    const app = buildApp({ engine: createScriptedEngine(), gate, insecure: ['some-switch'] })
    const ask = async (key?: string) =>
      (
        await app.inject({
          url: '/health/ready',
          headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        })
      ).json()
    expect(await ask()).toEqual({ status: 'ready' })
    expect(await ask(held.keys.submit)).toEqual({ status: 'ready' })
    expect(await ask(held.keys.read)).toMatchObject({ store: READY.store, insecure: ['some-switch'] })
  })

  it('S10: Readiness lists to everyone what was switched off where there are no keys', async () => {
    const app = buildApp({ engine: createScriptedEngine(), insecure: ['no-keys'] })
    expect((await app.inject({ url: '/health/ready' })).json()).toMatchObject({ insecure: ['no-keys'] })
  })
})

describe('S16: readiness under a foreign Host', () => {
  it('Readiness shows its outcome to a probe, and no more to a page under a foreign Host', async () => {
    const gate = createGate({ credentials: readBearerKey, hosts: buildLoopbackHostRule([]) })
    const app = buildApp({ engine: createScriptedEngine(), gate, insecure: ['no-keys'] })
    const ask = async (host: string) => (await app.inject({ url: '/health/ready', headers: { host } })).json()
    expect(await ask('evil.example:8471')).toEqual({ status: 'ready' })
    expect(await ask('127.0.0.1:8471')).toMatchObject({ store: READY.store, insecure: ['no-keys'] })
  })
})

describe('S16: the methods', () => {
  const CHANGES: ReadonlySet<string> = new Set([
    'submit',
    'accept',
    'registerBranch',
    'addBranch',
    'addRecord',
    'endRecorded',
    'submitPrepared',
    'signal',
    'abort',
    'retry',
    'retryOp',
    'pause',
    'resume',
    'skip',
    'edit',
    'stop',
  ])

  it('S16: A GET or HEAD of any route changes nothing, and the rest is POST or DELETE', async () => {
    const routes = await listRoutes(buildApp({ engine: createScriptedEngine(), ...PAGES }))
    for (const route of routes) {
      const engine = createScriptedEngine()
      await buildApp({ engine, ...PAGES }).inject(buildRequest(route))
      const changes = engine.calls.filter(({ verb }) => CHANGES.has(verb))
      const isSafe = ['GET', 'HEAD'].includes(route.method)
      const expected = isSafe || OTHER_CHANGES.includes(`${route.method} ${route.url}`) ? 0 : 1
      expect([route.method, route.url, changes.length]).toEqual([route.method, route.url, expected])
      if (!isSafe) expect(['POST', 'DELETE']).toContain(route.method)
    }
  })
})

const FOREIGN = [{ origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }] as const

async function findPageFaults(
  gate: Gate,
  headers: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const faults: string[] = []
  const routes = await listRoutes(buildApp({ engine: createScriptedEngine(), ...PAGES }))
  const posts = routes.filter(({ method }) => method === 'POST' || method === 'DELETE')
  expect(posts.length).toBeGreaterThan(5)
  for (const route of posts) {
    const engine = createScriptedEngine()
    const asked = buildRequest(route)
    const answer = await buildApp({ engine, gate, ...PAGES }).inject({
      ...asked,
      headers: { ...asked.headers, ...headers },
    })
    if (answer.statusCode !== 403 || answer.json().code !== 'SAGA_ORIGIN_REFUSED' || engine.calls.length > 0)
      faults.push(`${route.url}: ${answer.statusCode}`)
  }
  return faults
}

describe('S16: a page of another origin', () => {
  for (const headers of FOREIGN) {
    it(`S16: A page of another origin changes nothing by any route (${Object.keys(headers)[0]})`, async () => {
      expect(await findPageFaults(createGate({ credentials: readBearerKey }), headers)).toEqual([])
    })

    it(`S16: The check finds out a gate that does not look at the origin (${Object.keys(headers)[0]}, mutant)`, async () => {
      const gate = createGate({ credentials: readBearerKey })
      const blind: Gate = { ...gate, buildGuard: (access) => gate.buildGuard(access, false) }
      expect((await findPageFaults(blind, headers)).length).toBeGreaterThan(5)
    })
  }

  it('S16: A page does not get in by a name of its own that it has pointed at loopback (DNS rebinding)', async () => {
    const engine = createScriptedEngine()
    const gate = createGate({ credentials: readBearerKey, hosts: buildLoopbackHostRule([]) })
    const app = buildApp({ engine, gate })
    const headers = {
      host: 'evil.example:8470',
      origin: 'http://evil.example:8470',
      'sec-fetch-site': 'same-origin',
    }
    const answer = await app.inject({ url: '/v1/transactions', headers })
    expect([answer.statusCode, answer.json().code]).toEqual([421, 'SAGA_HOST_REFUSED'])
    const post = buildRequest({ method: 'POST', url: '/v1/transactions', access: undefined })
    expect((await app.inject({ ...post, headers: { ...post.headers, ...headers } })).statusCode).toBe(421)
    expect(engine.calls).toEqual([])
    expect((await app.inject({ url: '/health/live', headers })).statusCode).toBe(200)
  })
})
