import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { toBytes, type WireRequest } from '../../src/fuzz/wire-request.ts'
import type { Draft } from './draft.ts'

/** Writes a draft as a client would. */
export function written({ method, segments, query, headers, json }: Draft): WireRequest {
  const path = segments.map((segment) => encodeURIComponent(segment)).join('/')
  const pairs = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  const target = pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
  if (json === undefined) return { method, target, headers, body: '' }
  const body = toBytes(JSON.stringify(json))
  return { method, target, headers: [...headers, ['content-type', 'application/json']], body }
}

/** A valid request of which one thing is changed. */
export function nearValid(draft: fc.Arbitrary<Draft>): fc.Arbitrary<WireRequest> {
  return draft.chain((valid) => {
    const request = written(valid)
    const everywhere = [method(request), target(request), query(request), header(request)]
    const ofBody = [
      ...[member(request, valid.json), member(request, valid.json), bytes(request), bytes(request)],
      ...[contentType(request), contentEncoding(request)],
    ]
    return fc.oneof(...everywhere, ...(valid.json === undefined ? [strayBody(request)] : ofBody))
  })
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND']

function method(request: WireRequest): fc.Arbitrary<WireRequest> {
  return fc.constantFrom(...METHODS).map((other) => ({ ...request, method: other }))
}

const SEGMENTS = [
  ...['%', '%zz', '%0', '%00', '%0d%0a', '%2f', '%252f', '%c3%28', '%ed%a0%80', '%ff', '%20', '%22', '%3b'],
  ...['.', '..', '%2e%2e', ';x=1', '..;', '*', '{gid}', ':gid', '__proto__', 'constructor', 'toString'],
  ...['\u00e9', '\u00ff\u00fe', '|', '<script>', "'", '"', '`', '\\', '^', '[]', '@', '~', '%e2%80%ae'],
  ...['a'.repeat(129), 'a'.repeat(2_049), '%41'.repeat(2_000), 'x'.repeat(9_000)],
]

function target(request: WireRequest): fc.Arbitrary<WireRequest> {
  const [path = '', ...rest] = request.target.split('?')
  const query = rest.length === 0 ? '' : `?${rest.join('?')}`
  const parts = path.split('/')
  const replaced = fc
    .tuple(fc.integer({ min: 1, max: Math.max(parts.length - 1, 1) }), fc.constantFrom(...SEGMENTS))
    .map(([index, segment]) => parts.with(Math.min(index, parts.length - 1), segment).join('/'))
  const others = fc.constantFrom(`${path}/`, `/${path}`, `${path}//`, `http://x${path}`, `${path}#f`, '*')
  return fc.oneof({ weight: 3, arbitrary: replaced }, others).map((other) => ({
    ...request,
    target:
      other.startsWith('/') || other.startsWith('http') || other === '*' ? `${other}${query}` : `/${other}`,
  }))
}

const QUERIES = [
  ...['status=succeeded&status=failed', 'status=succeeded,nonsense', 'status=', 'status', 'status[]=failed'],
  ...[
    'limit=1&limit=2',
    'limit=0',
    'limit=201',
    'limit=1e2',
    'limit=-1',
    'limit=NaN',
    'limit=1.0',
    'limit=%31',
  ],
  ...['kind=saga&kind=tcc', 'kind=__proto__', 'kind=SAGA', 'retrying=1', 'attention=TRUE', 'createdTo=1e999'],
  ...[
    'createdFrom=9007199254740993',
    'createdFrom=-0',
    'cursor=',
    'cursor=%00',
    'cursor=MTc5',
    'cursor=a&cursor=b',
  ],
  ...[
    '__proto__=1',
    '__proto__[x]=1',
    'constructor=1',
    'hasOwnProperty=1',
    'toString',
    '%',
    '%zz=1',
    'a=%c3%28',
  ],
  ...['&&&', '=', '==', '?', '??a=b', 'limit=1;limit=2', 'limit=%E0%A4%A', `x=${'y'.repeat(8_000)}`],
  ...[
    Array.from({ length: 1_500 }, (_, index) => `a${index}=1`).join('&'),
    'limit=\u00e9',
    'gid=x',
    'wait=9',
  ],
]

function query(request: WireRequest): fc.Arbitrary<WireRequest> {
  const joint = request.target.includes('?') ? '&' : '?'
  return fc
    .constantFrom(...QUERIES)
    .map((more) => ({ ...request, target: `${request.target}${joint}${more}` }))
}

const HEADERS: readonly (readonly (readonly [string, string])[])[] = [
  ...[
    'wait',
    'wait=',
    'wait=-1',
    'wait=1e9',
    'wait="0',
    'wait=0;x="',
    '="',
    'WAIT = "0"',
    'respond-async, wait=0',
  ].map((value) => [['prefer', value]] as const),
  [
    ['prefer', 'wait=0'],
    ['prefer', 'wait=1'],
  ],
  [['expect', '100-continue']],
  [['x-forwarded-for', '\u00ff'.repeat(200)]],
  [['cookie', `${'a=b; '.repeat(500)}c=d`]],
  [['accept', 'application/xml']],
  [['accept-encoding', 'gzip, br;q=0, *;q=nan']],
  [['range', 'bytes=0-1,-5,99999999999-']],
  [['if-none-match', '*']],
  [['authorization', `Basic ${'A'.repeat(4_000)}`]],
  [['x-http-method-override', 'DELETE']],
  [['__proto__', 'x']],
  [['origin', 'null']],
  [['te', 'trailers, deflate;q=0.5']],
  Array.from({ length: 150 }, (_, index) => [`x-${index}`, 'y'] as const),
]

function header(request: WireRequest): fc.Arbitrary<WireRequest> {
  return fc.constantFrom(...HEADERS).map((more) => ({ ...request, headers: [...request.headers, ...more] }))
}

const CONTENT_TYPES = [
  ...[
    '',
    'text/plain',
    'application/json\t',
    ' application/json',
    'application/json ;charset=utf-8',
    'application/JSON',
  ],
  ...[
    'application/json\t; charset=utf-8',
    'application/json;charset=utf-16',
    'application/json; charset="utf-8"',
  ],
  ...[
    'application/json;charset=\u00e9',
    'application/json;;',
    'application/json; a=b; charset=latin1',
    'json',
  ],
  ...[
    'application/problem+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '*/*',
  ],
  ...[
    'application/json, application/json',
    'application/jsonx',
    'application /json',
    '/',
    ';',
    'application/json\u00a0',
  ],
  `application/json; ${'x'.repeat(4_000)}`,
]

function contentType(request: WireRequest): fc.Arbitrary<WireRequest> {
  const without = request.headers.filter(([name]) => name !== 'content-type')
  const other = fc.constantFrom(...CONTENT_TYPES).map((type) => [...without, ['content-type', type] as const])
  const twice = fc.constant([...request.headers, ['content-type', 'text/plain'] as const])
  return fc.oneof(other, fc.constant(without), twice).map((headers) => ({ ...request, headers }))
}

function contentEncoding(request: WireRequest): fc.Arbitrary<WireRequest> {
  const gzipped = gzipSync(Buffer.from(request.body, 'latin1')).toString('latin1')
  const as = (encoding: string, body: string) => ({
    ...request,
    headers: [...request.headers, ['content-encoding', encoding] as const],
    body,
  })
  return fc.constantFrom(
    ...[as('gzip', gzipped), as('gzip', request.body), as('identity', request.body), as('br', request.body)],
    ...[as('x-unknown', gzipped), { ...request, body: gzipped }],
  )
}

function strayBody(request: WireRequest): fc.Arbitrary<WireRequest> {
  const bodies = [
    '{}',
    ' \n{ }\t',
    'null',
    '[]',
    '"x"',
    '{"force":true}',
    '\u0000',
    '\u00ff\u00fe',
    'x'.repeat(2_000),
  ]
  const types = [[], [['content-type', 'application/json']], [['content-type', 'text/plain']]] as const
  return fc.tuple(fc.constantFrom(...bodies), fc.constantFrom(...types)).map(([body, type]) => ({
    ...request,
    headers: [...request.headers, ...type],
    body,
  }))
}

const SURPRISES: readonly unknown[] = [
  ...[
    null,
    true,
    0,
    -1,
    0.5,
    -0,
    2 ** 53,
    1e21,
    -1e308,
    5e-324,
    '',
    ' ',
    'x',
    '0',
    [],
    {},
    [[]],
    [null],
    { a: 1 },
  ],
  ...[
    '\u0000',
    '\ud800',
    '\udfff\ud800',
    '\u202eabc',
    '\ufeff',
    'e\u0301'.repeat(50),
    '\u{1f4a5}'.repeat(600),
    '../..',
  ],
  ...[
    'ftp://127.0.0.1/',
    '//127.0.0.1/',
    'http://',
    'http://127.0.0.1:99999/',
    'javascript:1',
    'http://[::1',
    'file:///etc',
  ],
  ...[
    'http://user:secret@127.0.0.1:9/',
    'http://127.0.0.1:9/?gid=x',
    'http://127.0.0.1:9/#f',
    'http://127.0.0.1:9/\r\nx: y',
  ],
  ...['x'.repeat(2_049), 'x'.repeat(300_000), Array.from({ length: 101 }, () => ({})), Array(3).fill('b0')],
  ...[{ 'x-a': 'y\r\nz: 1' }, { host: 'x' }, { 'content-length': '0' }, { '': 'x' }, { 'x y': 'z' }],
]
const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  'a b',
  '\u0000',
  'gid',
  'kind',
  'x'.repeat(5_000),
]

/** One member or item of the body, anywhere in it: other, missing or too many. */
function member(request: WireRequest, json: unknown): fc.Arbitrary<WireRequest> {
  const places = placesIn(json)
  const change = fc.oneof(
    fc.record({ type: fc.constant('replace' as const), with: fc.constantFrom(...SURPRISES) }),
    fc.record({ type: fc.constant('remove' as const) }),
    fc.record({
      type: fc.constant('add' as const),
      key: fc.constantFrom(...KEYS),
      with: fc.constantFrom(...SURPRISES),
    }),
    fc.record({ type: fc.constant('repeat' as const), times: fc.constantFrom(2, 101, 1_000) }),
  )
  return fc.tuple(fc.constantFrom(...places), change).map(([place, how]) => ({
    ...request,
    body: toBytes(JSON.stringify(changed(json, place, how)) ?? 'null'),
  }))
}

type Place = readonly (string | number)[]

type Change =
  | { readonly type: 'replace'; readonly with: unknown }
  | { readonly type: 'remove' }
  | { readonly type: 'add'; readonly key: string; readonly with: unknown }
  | { readonly type: 'repeat'; readonly times: number }

function placesIn(value: unknown): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [[]]
  const inner = Object.entries(value).flatMap(([key, member]) =>
    placesIn(member).map((place) => [Array.isArray(value) ? Number(key) : key, ...place]),
  )
  return [[], ...inner]
}

function changed(value: unknown, [first, ...rest]: Place, change: Change): unknown {
  if (first === undefined) return changedHere(value, change)
  const entries = Object.entries(Object(value)).flatMap(([key, member]): [string, unknown][] => {
    if (key !== String(first)) return [[key, member]]
    if (rest.length === 0 && change.type === 'remove') return []
    return [[key, changed(member, rest, change)]]
  })
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries)
}

function changedHere(value: unknown, change: Change): unknown {
  switch (change.type) {
    case 'replace':
      return change.with
    case 'remove':
      return undefined
    case 'add':
      // An own member, which an assignment of __proto__ would not make.
      return Object.fromEntries([...Object.entries(Object(value)), [change.key, change.with]])
    case 'repeat':
      return Array.isArray(value) ? Array(change.times).fill(value).flat() : Array(change.times).fill(value)
  }
}

/** Changes the text itself, into one that no serializer writes. */
function bytes(request: WireRequest): fc.Arbitrary<WireRequest> {
  const { body } = request
  const literals = [
    'NaN',
    'Infinity',
    '-Infinity',
    '1e999',
    '-1e999',
    '01',
    '1.',
    '.5',
    '+1',
    '0x10',
    '1e',
    '9007199254740993',
    '0.1000000000000000055511151231257827',
    'undefined',
    "'x'",
    '\u00ff',
  ]
  const literal = fc
    .constantFrom(...literals)
    .map((text) =>
      body.replace(/(":\s*)("[^"]*"|-?\d[\d.eE+-]*|true|false|null)/, (_, colon) => `${colon}${text}`),
    )
  const twice = fc
    .constantFrom(
      '"gid":"twice"',
      '"kind":"tcc"',
      '"branches":[]',
      '"__proto__":{"x":1}',
      '"\\u005f_proto__":1',
      '"constructor":{"prototype":{"x":1}}',
    )
    .map((text) => body.replace('{', `{${text},`))
  const deep = fc
    .constantFrom(33, 1_000, 100_000)
    .map((depth) => body.replace(/\}$/, `,"payload":${'['.repeat(depth)}${']'.repeat(depth)}}`))
  const cut = fc.integer({ min: 1, max: Math.max(body.length - 1, 1) }).map((at) => body.slice(0, at))
  const around = fc.constantFrom(
    `\u00ef\u00bb\u00bf${body}`,
    `${body}x`,
    `${body}${body}`,
    `${body}\u0000`,
    `/**/${body}`,
    `${body},`,
    `[${body}]`,
    ` \t\r\n${body}\n`,
    `\u00ff${body}`,
    `${body.slice(0, -1)}\u00c3}`,
    `${body.slice(0, -1)}${' '.repeat(1_048_577)}}`,
  )
  const utf16 = fc.constant(
    Buffer.from(Buffer.from(body, 'latin1').toString('utf8'), 'utf16le').toString('latin1'),
  )
  return fc.oneof(literal, twice, deep, cut, around, utf16).map((text) => ({ ...request, body: text }))
}

/** Those that say where the request ends are for raw sockets. */
const RESERVED = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'host',
  'upgrade',
  'expect',
  'trailer',
  'te',
  'keep-alive',
])

/**
 * Texts that were never a request of this server. A HEAD that node's parser refuses is left out: the parser does not
 * know that it is one, and says why in a body, which the client then does not expect.
 */
export const rubbish: fc.Arbitrary<WireRequest> = fc
  .record({
    method: fc.constantFrom(...METHODS),
    target: fc.oneof(
      fc
        .string({
          unit: fc.integer({ min: 0x21, max: 0xff }).map((unit) => String.fromCharCode(unit)),
          maxLength: 60,
        })
        .map((text) => `/${text}`),
      fc.webPath().map((path) => `/v1${path}`),
      fc.constantFrom(
        '/v1',
        '/v1/',
        '/v2/transactions',
        '/docs/json/..',
        '/docs/static/..%2f..%2fpackage.json',
        '/docs/static/../../index.html',
        '/.env',
        '/wp-login.php',
        '/v1/transactions/a/b/c',
        '/docs/',
        '/docs/nothing',
        '*',
      ),
    ),
    headers: fc.array(
      fc.tuple(
        fc.stringMatching(/^[a-z-]{1,12}$/).filter((name) => !RESERVED.has(name)),
        fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((unit) => String.fromCharCode(unit)) }),
      ),
      { maxLength: 4 },
    ),
    body: fc.oneof(
      fc.constant(''),
      fc.string({
        unit: fc.integer({ min: 0, max: 0xff }).map((unit) => String.fromCharCode(unit)),
        maxLength: 200,
      }),
    ),
  })
  .filter(({ method, target }) => method !== 'HEAD' || /^[!-~]*$/.test(target))
