const HOST = 'Host: localhost\r\n'
const CLOSE = `${HOST}Connection: close\r\n`
const LIVE = 'GET /health/live HTTP/1.1\r\n'
const POST = 'POST /v1/transactions HTTP/1.1\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'
const CHUNKED = `${POST}${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`
/** The connection just ends. */
export const NO_ANSWER = 0
const REFUSED = [400, 404, 405, 408, 413, 414, 415, 417, 422, 431]

export interface RawCase {
  readonly title: string
  readonly bytes: string
  /** Any of these as the last answer. */
  readonly statuses: readonly number[]
}

function refused(title: string, bytes: string, statuses: readonly number[] = REFUSED): RawCase {
  return { title, bytes, statuses }
}

/** Each ends with an answer and the end of the connection, at once. */
export const RAW_CASES: readonly RawCase[] = [
  refused('no HTTP at all', 'GARBAGE\r\n\r\n', [400]),
  refused('HTTP/0.9, which node speaks', 'GET /\r\n\r\n', [200, 400, 404]),
  refused('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]),
  refused('a version that does not exist', 'GET / HTTP/9.9\r\n\r\n', [400]),
  refused('no Host', 'GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n', [400]),
  refused('two Hosts', `${LIVE}Host: a\r\nHost: b\r\nConnection: close\r\n\r\n`, [200, ...REFUSED]),
  refused('bare LF', 'GET /health/live HTTP/1.1\nHost: localhost\n\n', [400]),
  refused('a bare CR in a header', `${LIVE}${CLOSE}X: a\rb\r\n\r\n`, [400]),
  refused('NUL in a header', `${LIVE}${CLOSE}X: a\u0000b\r\n\r\n`, [400]),
  refused('NUL in the target', `GET /health\u0000/live HTTP/1.1\r\n${CLOSE}\r\n`, [400]),
  refused('a space in the target', `GET /health live HTTP/1.1\r\n${CLOSE}\r\n`, [400]),
  refused('bytes over 127 in the target', `GET /\u00e9\u00ff HTTP/1.1\r\n${CLOSE}\r\n`, [400]),
  refused('a space before the colon', `${LIVE}Host : x\r\nConnection: close\r\n\r\n`, [400]),
  refused('a folded header', `${LIVE}${CLOSE}X: a\r\n b\r\n\r\n`, [200, 400]),
  refused('a header of 64 KiB', `${LIVE}${CLOSE}X: ${'x'.repeat(65_536)}\r\n\r\n`, [431]),
  refused('a target of 64 KiB', `GET /${'x'.repeat(65_536)} HTTP/1.1\r\n${CLOSE}\r\n`, [414, 431]),
  refused('1,000 headers', `${LIVE}${CLOSE}${'a: b\r\n'.repeat(1_000)}\r\n`, [200, 404, 431]),
  refused('10,000 headers', `${LIVE}${CLOSE}${'a: b\r\n'.repeat(10_000)}\r\n`, [431]),
  refused('a chunk size that is none', `${CHUNKED}zz\r\n{}\r\n0\r\n\r\n`, [400]),
  refused('a chunk without its end', `${CHUNKED}2\r\n{}xx\r\n0\r\n\r\n`, [400]),
  refused('a chunk size of 2^64', `${CHUNKED}10000000000000000\r\n`, [400, 413]),
  refused('a negative chunk size', `${CHUNKED}-1\r\n`, [400]),
  refused('a chunk extension of 64 KiB', `${CHUNKED}2;${'x'.repeat(65_536)}\r\n{}\r\n0\r\n\r\n`, [400, 413]),
  refused(
    'two lengths',
    `${POST}${CLOSE}${JSON_TYPE}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    [400],
  ),
  refused('a list of lengths', `${POST}${CLOSE}${JSON_TYPE}Content-Length: 2, 2\r\n\r\n{}`, [400]),
  refused('a signed length', `${POST}${CLOSE}${JSON_TYPE}Content-Length: +2\r\n\r\n{}`, [400]),
  refused('a negative length', `${POST}${CLOSE}${JSON_TYPE}Content-Length: -2\r\n\r\n{}`, [400]),
  refused('a hexadecimal length', `${POST}${CLOSE}${JSON_TYPE}Content-Length: 0x2\r\n\r\n{}`, [400]),
  refused(
    'a length and chunks, as smugglers send them',
    `${CHUNKED.replace('\r\n\r\n', '\r\nContent-Length: 4\r\n\r\n')}0\r\n\r\n${LIVE}${CLOSE}\r\n`,
    [400],
  ),
  refused(
    'chunks that are not the last coding',
    `${POST}${CLOSE}${JSON_TYPE}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
  ),
  refused(
    'a transfer coding that nobody knows',
    `${POST}${CLOSE}${JSON_TYPE}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  ),
  refused(
    'an expectation that nobody meets',
    `${POST}${CLOSE}${JSON_TYPE}Expect: tea\r\nContent-Length: 2\r\n\r\n{}`,
    [417],
  ),
  refused('CONNECT', `CONNECT x:80 HTTP/1.1\r\n${CLOSE}\r\n`, [NO_ANSWER]),
  {
    title: 'an absolute target',
    bytes: `GET http://elsewhere/health/live HTTP/1.1\r\n${CLOSE}\r\n`,
    statuses: [200, 404],
  },
  { title: 'HTTP/1.0', bytes: 'GET /health/live HTTP/1.0\r\n\r\n', statuses: [200, 404] },
  {
    title: 'an upgrade',
    bytes: `${LIVE}${HOST}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
    statuses: [200, 404],
  },
  { title: 'blank lines first', bytes: `\r\n\r\n${LIVE}${CLOSE}\r\n`, statuses: [200, 404] },
]
