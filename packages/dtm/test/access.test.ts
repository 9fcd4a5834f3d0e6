import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createGate,
  createKey,
  type GateSettings,
  isGranted,
  KeyQuota,
  KeyRing,
  listScopes,
  type RouteAccess,
  readBearerOrBasicKey,
  readNetworks,
  SCOPES,
  type Scope,
} from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import type { Gid } from '@counterstep/protocol'
import type { FastifyInstance, InjectOptions, RouteOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildDtmApp } from '../src/index.ts'
import type { TopicStore } from '../src/topics/topic-store.ts'
import { openDtmFixture } from './support/dtm-fixture.ts'
import { message, saga } from './support/requests.ts'

interface Route {
  readonly method: string
  readonly url: string
  readonly access: RouteAccess | undefined
}

const keys = new Map<Scope, string>()
let folder = ''
let ring: KeyRing

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-dtm-keys-'))
  const path = join(folder, 'keys.json')
  for (const scope of SCOPES) {
    const { key } = await createKey(path, { name: scope, scopes: [scope], createdAt: 0, expiresAt: null })
    keys.set(scope, key)
  }
  ring = await KeyRing.open(path, { onRead: () => undefined, onBroken: () => undefined })
})

afterAll(async () => {
  ring.close()
  await rm(folder, { recursive: true, force: true })
})

/** Makes an engine and topics of which the test only wants to know whether they were reached. */
function openNotedApp(settings: Partial<GateSettings> = {}) {
  const reached: string[] = []
  const note = (what: string) => async () => {
    reached.push(what)
    return undefined
  }
  const engine = { isStopping: false, list: async () => ({ items: [] }) } as unknown as EngineApi
  const reads = ['read', 'get', 'show', 'showWhole']
  const changes = ['submit', 'accept', 'addBranch', 'submitPrepared', 'abort', 'retry', 'stop', ...reads]
  Object.assign(engine, Object.fromEntries(changes.map((verb) => [verb, note(verb)])))
  const topics: TopicStore = {
    list: async () => [],
    write: async () => {
      reached.push('topic')
      return 'written'
    },
    remove: async () => {
      reached.push('topic')
      return 'removed'
    },
  }
  const gate = createGate({ keys: ring, credentials: readBearerOrBasicKey, ...settings })
  return { app: buildDtmApp({ engine, topics, gate, checkUrl: () => undefined }), reached }
}

async function collectRoutes(app: FastifyInstance): Promise<readonly Route[]> {
  const seen: RouteOptions[] = []
  app.addHook('onRoute', (route) => void seen.push(route))
  await app.ready()
  // Fastify makes routes of /api/ping for each method that exists, also for rare ones.
  const plain = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE'])
  return seen.flatMap(({ method, url, config }) =>
    [method]
      .flat()
      .flatMap((each) => (plain.has(each) ? [{ method: each, url, access: config?.access }] : [])),
  )
}

const SUBMISSION = JSON.stringify({ gid: 'a', trans_type: 'saga', steps: [], payloads: [] })
const QUERY = '?gid=a&topic=t&url=http%3A%2F%2F127.0.0.1'

function requestTo(
  { method, url, access }: Route,
  headers: Readonly<Record<string, string>> = {},
): InjectOptions {
  const path = url.replace(':topic', 't')
  return {
    method: method as 'GET',
    url: ['GET', 'HEAD'].includes(method) ? path + QUERY : path,
    headers,
    // A route that is open to all takes no body.
    ...(method === 'POST' && access !== 'open' ? { payload: SUBMISSION } : {}),
  }
}

function basic(key: string | undefined): string {
  return `Basic ${Buffer.from(`key:${key}`).toString('base64')}`
}

describe("S11: every route of DTM's HTTP API", () => {
  it('A route accepts each scope that it declares as Bearer and as Basic, refuses others with 403, and no key with 401', async () => {
    const routes = await collectRoutes(openNotedApp().app)
    expect(routes.length).toBeGreaterThan(25)
    for (const route of routes) {
      for (const [scope, key] of keys) {
        for (const authorization of [`Bearer ${key}`, basic(key)]) {
          const { app, reached } = openNotedApp()
          const { statusCode } = await app.inject(requestTo(route, { authorization }))
          const isAllowed =
            route.access !== undefined &&
            (route.access === 'open' || isGranted(route.access, (each) => each === scope))
          const what = `${route.method} ${route.url} with ${scope}: ${statusCode}`
          expect([what, [401, 403].includes(statusCode)]).toEqual([what, !isAllowed])
          if (!isAllowed) expect([what, statusCode, reached]).toEqual([what, 403, []])
        }
      }
      for (const headers of [{}, { authorization: basic('cs_unknown') }]) {
        const { app, reached } = openNotedApp()
        const answer = await app.inject(requestTo(route, headers))
        const what = `${route.method} ${route.url} without a good key: ${answer.statusCode}`
        if (route.access === 'open') expect([what, answer.statusCode]).toEqual([what, 200])
        else expect([what, answer.statusCode, reached]).toEqual([what, 401, []])
      }
    }
  })

  it('The routes declare the scopes that are written here', async () => {
    const routes = await collectRoutes(openNotedApp().app)
    const declared = routes
      .filter(({ method }) => method !== 'HEAD' && method !== 'PUT')
      .map(({ method, url, access }) => [`${method} ${url.replace('/api/dtmsvr', '')}`, access])
    expect(Object.fromEntries(declared)).toEqual({
      'POST /prepare': ['submit'],
      'POST /submit': ['submit'],
      'POST /abort': ['submit', 'admin'],
      'POST /forceStop': ['admin'],
      'POST /resetNextCronTime': ['admin'],
      'POST /registerBranch': ['submit'],
      'POST /registerTccBranch': ['submit'],
      'POST /registerXaBranch': ['submit'],
      'GET /query': ['read'],
      'GET /all': ['read'],
      'GET /resetCronTime': ['admin'],
      'GET /subscribe': ['admin'],
      'GET /unsubscribe': ['admin'],
      'DELETE /topic/:topic': ['admin'],
      'GET /newGid': ['submit'],
      'GET /api/ping': 'open',
      'POST /api/ping': 'open',
      'DELETE /api/ping': 'open',
      'GET /version': ['read'],
      'GET /api/metrics': ['read'],
      'POST /prepareWorkflow': ['submit'],
      'GET /scanKV': ['read'],
      'GET /queryKV': ['read'],
      'POST /api/json-rpc': ['submit', 'admin'],
    })
  })

  it('A route that does not declare who may use it keeps the app from getting ready', async () => {
    const { app } = openNotedApp()
    app.get('/api/dtmsvr/forgotten', () => 'open to all')
    await expect(app.ready()).rejects.toThrow('/api/dtmsvr/forgotten does not say who may use it')
  })

  const NETWORKS = readNetworks(['10.0.0.0/8'])
  const INSIDE = '10.1.2.3'

  /** Returns the routes that let in a caller of the network without a key. */
  async function openInside(settings: Partial<GateSettings>): Promise<readonly string[]> {
    if (NETWORKS === undefined) throw new Error('no network')
    const entered: string[] = []
    for (const route of await collectRoutes(openNotedApp().app)) {
      const { app } = openNotedApp({ keylessNetworks: NETWORKS, ...settings })
      const { statusCode } = await app.inject({ ...requestTo(route), remoteAddress: INSIDE })
      if (statusCode !== 401 && route.access !== 'open') entered.push(`${route.method} ${route.url}`)
    }
    return entered
  }

  it('S43: The networks that the configuration names may submit without a key, and do nothing else', async () => {
    const entered = await openInside({})
    const routes = await collectRoutes(openNotedApp().app)
    const submits = routes.filter(
      ({ access }) => access !== undefined && access !== 'open' && listScopes(access).includes('submit'),
    )
    expect(entered).toEqual(submits.map(({ method, url }) => `${method} ${url}`))
    expect(entered.join()).not.toMatch(/query|all|subscribe|forceStop|metrics|Cron|topic|KV|version/)
  })

  it('S43: The networks that the configuration names may do more without a key once it says so by name (mutant of the default)', async () => {
    const entered = await openInside({ keylessScopes: SCOPES })
    for (const path of ['query', 'all', 'subscribe', 'forceStop']) expect(entered.join()).toContain(path)
  })

  it('A key is needed from every network that the configuration does not name', async () => {
    if (NETWORKS === undefined) throw new Error('no network')
    const { app } = openNotedApp({ keylessNetworks: NETWORKS })
    const ask = async (remoteAddress: string) =>
      (await app.inject({ url: '/api/dtmsvr/newGid', remoteAddress })).statusCode
    expect([await ask(INSIDE), await ask(`::ffff:${INSIDE}`)]).toEqual([200, 200])
    expect([await ask('192.0.2.1'), await ask('127.0.0.1')]).toEqual([401, 401])
  })

  it('S17: The eleventh bad request of an address in a second is answered with 429', async () => {
    const { app } = openNotedApp({ nowMs: () => 1_000 })
    for (let count = 0; count < 10; count += 1) await app.inject({ url: '/api/dtmsvr/all' })
    const answer = await app.inject({ url: '/api/dtmsvr/all' })
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '1'])
    expect(answer.json()).toEqual({ message: 'SAGA_RATE_LIMITED: too many requests without a good key' })
  })
})

describe('S11: the methods of JSON-RPC', () => {
  const askBy = (app: FastifyInstance, scope: Scope, method: string) =>
    app.inject({
      method: 'POST',
      url: '/api/json-rpc',
      headers: { authorization: `Bearer ${keys.get(scope)}` },
      payload: JSON.stringify({ jsonrpc: '2.0', id: '1', method, params: { gid: 'a', trans_type: 'tcc' } }),
    })

  it('A method needs the scope that the route of its name needs, so a key with admin alone aborts and submits nothing', async () => {
    const methods = ['newGid', 'prepare', 'submit', 'registerBranch', 'abort']
    const listAllowed = async (scope: Scope) => {
      const allowed: string[] = []
      for (const method of methods) {
        const { app, reached } = openNotedApp()
        const { statusCode } = await askBy(app, scope, method)
        if (statusCode === 200) allowed.push(method)
        else expect([method, statusCode, reached]).toEqual([method, 403, []])
      }
      return allowed
    }
    expect(await listAllowed('submit')).toEqual(methods)
    expect(await listAllowed('admin')).toEqual(['abort'])
    expect(await listAllowed('read')).toEqual([])
  })

  it('S42: The quota of a key counts the methods that store something, and keeps out no abort', async () => {
    const { app } = openNotedApp({ keyQuota: new KeyQuota({ submitsMax: 1 }), nowMs: () => 1_000 })
    for (const method of ['newGid', 'abort', 'submit', 'abort'])
      expect([method, (await askBy(app, 'submit', method)).statusCode]).toEqual([method, 200])
    const refused = await askBy(app, 'submit', 'prepare')
    expect([refused.statusCode, refused.body]).toEqual([429, expect.stringContaining('SAGA_QUOTA_EXCEEDED')])
    expect(refused.headers['retry-after']).toBe(String(24 * 3_600 - 1))
    expect((await askBy(app, 'submit', 'abort')).statusCode).toBe(200)
  })
})

describe("S16: the methods of DTM's HTTP API", () => {
  /** DTM's clients send these as GET, and no other change. */
  const BY_GET = ['/api/dtmsvr/resetCronTime', '/api/dtmsvr/subscribe', '/api/dtmsvr/unsubscribe']

  it("Only POST, DELETE and the three commands that DTM's clients send as GET change something", async () => {
    const routes = await collectRoutes(openNotedApp().app)
    for (const route of routes.filter(({ method }) => method === 'GET')) {
      const { app, reached } = openNotedApp({ keylessNetworks: { has: () => true }, keylessScopes: SCOPES })
      await app.inject(requestTo(route))
      const changes = reached.filter((what) => !['read', 'get', 'show', 'showWhole'].includes(what))
      if (!BY_GET.includes(route.url)) expect([route.url, changes]).toEqual([route.url, []])
    }
  })

  const NAVIGATIONS: readonly Readonly<Record<string, string>>[] = [
    { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
    { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'iframe' },
    { 'sec-fetch-site': 'none', 'sec-purpose': 'prefetch' },
  ]
  for (const headers of NAVIGATIONS) {
    it(`S43: A GET that a browser sends when it opens a link changes nothing (${JSON.stringify(headers)})`, async () => {
      for (const url of BY_GET) {
        const { app, reached } = openNotedApp({ keylessNetworks: { has: () => true }, keylessScopes: SCOPES })
        const answer = await app.inject(requestTo({ method: 'GET', url, access: undefined }, headers))
        expect([url, answer.statusCode, reached]).toEqual([url, 403, []])
      }
    })
  }

  for (const headers of [{ origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    it(`A page of another origin changes nothing (${Object.keys(headers)[0]})`, async () => {
      const routes = await collectRoutes(openNotedApp().app)
      const changing = routes.filter(
        ({ method, url }) => BY_GET.includes(url) || !['GET', 'HEAD'].includes(method),
      )
      expect(changing.length).toBeGreaterThan(12)
      for (const route of changing) {
        const { app, reached } = openNotedApp({ keylessNetworks: { has: () => true }, keylessScopes: SCOPES })
        const answer = await app.inject(requestTo(route, headers))
        expect([route.url, answer.statusCode, reached]).toEqual([route.url, 403, []])
      }
    })
  }
})

describe('S42: a key whose quota is used up', () => {
  it('S42: A used-up quota is answered with 429 by prepare, submit and the three spellings of registerBranch', async () => {
    const bearer = { authorization: `Bearer ${keys.get('submit')}` }
    const payload = { gid: 'g', trans_type: 'tcc', branch_id: '01' }
    for (const path of ['prepare', 'submit', 'registerBranch', 'registerTccBranch', 'registerXaBranch']) {
      const { app, reached } = openNotedApp({ keyQuota: new KeyQuota({ bytesMax: 5 }) })
      const answer = await app.inject({
        method: 'POST',
        url: `/api/dtmsvr/${path}`,
        payload,
        headers: bearer,
      })
      expect([path, answer.statusCode, reached]).toEqual([path, 429, []])
      expect(answer.body).toContain('SAGA_QUOTA_EXCEEDED')
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    }
  })
})

describe('S42: the bytes of a key', () => {
  it('S42: The quota counts the stored bytes: branch_headers count with each branch, and a payload with each subscriber', async () => {
    await using dtm = await openDtmFixture()
    const { engine } = dtm.node
    const branches = dtm.play()
    const subscribers = Array.from({ length: 100 }, (_, at) => ({
      url: `${branches.url}/s${at}`,
      remark: '',
    }))
    const topics: TopicStore = {
      list: async () => [{ name: 'all', subscribers, version: 1, updatedAt: 0 }],
      write: async () => 'conflict',
      remove: async () => 'absent',
    }
    const branch_headers = { 'x-note': 'x'.repeat(7_000) }
    const wide = { ...saga('wide', branches, 100), branch_headers }
    const fanned = { ...message('fanned', ['topic://all']), payloads: ['x'.repeat(9_000)] }
    for (const [path, body] of [
      ['submit', wide],
      ['submit', fanned],
      ['prepare', { ...fanned, query_prepared: `${branches.url}/query` }],
    ] as const) {
      const gate = createGate({
        keys: ring,
        credentials: readBearerOrBasicKey,
        keyQuota: new KeyQuota({ bytesMax: 500_000 }),
      })
      const app = buildDtmApp({ engine, topics, gate, checkUrl: () => undefined })
      const answer = await app.inject({
        method: 'POST',
        url: `/api/dtmsvr/${path}`,
        payload: JSON.stringify(body),
        headers: { authorization: `Bearer ${keys.get('submit')}` },
      })
      expect([answer.statusCode, answer.body]).toEqual([429, expect.stringContaining('SAGA_QUOTA_EXCEEDED')])
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(1)
      expect(await engine.read(body.gid as Gid)).toBeUndefined()
      await app.close()
    }
  })
})
