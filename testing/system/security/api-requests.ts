import type { ApiRequest } from './both-apis.ts'

const BRANCH = 'http://127.0.0.1:9/branch'
const HOUR_MS = 3_600_000

/** One of each request that takes a text from a caller, on both HTTP APIs; `run` keeps the gids of repetitions apart. */
export function apiRequests(run: string): readonly ApiRequest[] {
  return [...nativeRequests(run), ...dtmRequests(run)]
}

function nativeRequests(run: string): readonly ApiRequest[] {
  const post = (url: string, body: unknown): ApiRequest => ({ api: 'native', method: 'POST', url, body })
  const get = (url: string): ApiRequest => ({ api: 'native', method: 'GET', url })
  const headers = { 'x-trace': 'trace' }
  const branch = { id: 'b1', action: `${BRANCH}/a`, compensation: `${BRANCH}/c`, headers }
  return [
    post('/v1/transactions', {
      gid: `saga-${run}`,
      kind: 'saga',
      delayMs: HOUR_MS,
      headers,
      branches: [
        { ...branch, payload: { name: 'payload', nested: ['text'] } },
        { ...branch, id: 'b2', after: ['b1'], body: 'body', contentType: 'text/plain' },
      ],
    }),
    post('/v1/transactions', { gid: `tcc-${run}`, kind: 'tcc', deadlineMs: HOUR_MS }),
    post(`/v1/transactions/tcc-${run}/branches`, {
      id: 't1',
      confirm: `${BRANCH}/y`,
      cancel: `${BRANCH}/n`,
      payload: 'p',
    }),
    post('/v1/transactions', {
      gid: `message-${run}`,
      kind: 'message',
      branches: [{ id: 'm1', action: `${BRANCH}/a`, payload: 'p' }],
      check: { url: `${BRANCH}/q`, afterMs: HOUR_MS },
    }),
    post(`/v1/transactions/tcc-${run}/abort`, { reason: 'reason' }),
    get('/v1/transactions?limit=5&status=submitted&kind=saga&cursor=cursor'),
    get(`/v1/transactions/saga-${run}`),
  ]
}

function dtmRequests(run: string): readonly ApiRequest[] {
  const base = '/api/dtmsvr'
  const post = (path: string, body: unknown): ApiRequest => ({
    api: 'dtm',
    method: 'POST',
    url: `${base}/${path}`,
    body,
  })
  const get = (path: string): ApiRequest => ({ api: 'dtm', method: 'GET', url: `${base}/${path}` })
  const options = { protocol: 'http', custom_data: '{"delay":3600}', branch_headers: { 'x-trace': 'trace' } }
  const steps = [{ action: `${BRANCH}/a`, compensate: `${BRANCH}/c` }]
  return [
    post('submit', {
      gid: `d-saga-${run}`,
      trans_type: 'saga',
      steps,
      payloads: ['{"a":"text"}'],
      ...options,
    }),
    post('prepare', {
      gid: `d-msg-${run}`,
      trans_type: 'msg',
      steps,
      payloads: ['p'],
      query_prepared: `${BRANCH}/q`,
    }),
    post('prepare', { gid: `d-tcc-${run}`, trans_type: 'tcc' }),
    post('registerBranch', {
      gid: `d-tcc-${run}`,
      trans_type: 'tcc',
      branch_id: '01',
      data: 'data',
      confirm: `${BRANCH}/y`,
      cancel: `${BRANCH}/n`,
    }),
    post('abort', { gid: `d-tcc-${run}`, trans_type: 'tcc', rollback_reason: 'reason' }),
    get('query?gid=gid'),
    get('all?gid=&position=position&limit=5&status=submitted&transType=saga&createTimeStart=1'),
    get('subscribe?topic=topic&url=http%3A%2F%2F127.0.0.1%3A9%2Ft&remark=remark'),
    get('unsubscribe?topic=topic&url=url'),
  ]
}

/** The request once for each of its texts, wherever it stands, with another value in that place. */
export function withEachText(request: ApiRequest, value: unknown): readonly ApiRequest[] {
  const inBody = findLeaves(request.body).map((path) => ({
    ...request,
    body: replaceAt(request.body, path, value),
  }))
  return typeof value === 'string' ? [...inBody, ...inUrl(request, value)] : inBody
}

function inUrl(request: ApiRequest, value: string): readonly ApiRequest[] {
  const [path = '', query = ''] = request.url.split('?')
  const names = [...new URLSearchParams(query).keys()]
  const changed = names.map((name) => {
    const parameters = new URLSearchParams(query)
    parameters.set(name, value)
    return { ...request, url: `${path}?${parameters}` }
  })
  const gidAt = /^(\/v1\/transactions\/)[^/]+(.*)$/.exec(path)
  return gidAt === null
    ? changed
    : [...changed, { ...request, url: `${gidAt[1]}${encodeURIComponent(value)}${gidAt[2]}` }]
}

type Path = readonly (string | number)[]

function findLeaves(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value === 'string') return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) =>
    findLeaves(child, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}

function replaceAt(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by
  if (Array.isArray(value))
    return value.map((child, index) => (index === key ? replaceAt(child, rest, by) : child))
  return Object.fromEntries(
    Object.entries(value as object).map(([name, child]) => [
      name,
      name === key ? replaceAt(child, rest, by) : child,
    ]),
  )
}
